#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/target.h"
#include "app/text_table.h"
#include "waymark/v1/query_report.pb.h"

namespace waymark {
namespace queries_command {
namespace {

struct Options {
  Target target;
  bool no_hits = false, few_hits = false, slow = false;
  int few = 0, limit = 0;
  double hours = 24, slow_milliseconds = 0;
};

std::string Head(const Options& options, const v1::ReportQueriesResponse& response) {
  const std::string what = options.slow ? "slow" : options.few_hits ? "with few hits" : "without hits";
  std::string text = absl::StrCat(WithThousands(response.searches()), " searches, ",
                                  WithThousands(response.matching()), " ", what, "\n");
  if (!response.complete()) {
    absl::StrAppend(&text, "only those until ", TimeText(response.read_until()),
                    " were read: the time was up; ask for less or give more --timeout\n");
  }
  return text;
}

std::string Text(const Options& options, const v1::ReportQueriesResponse& response) {
  std::string text = Head(options, response);
  if (response.queries().empty()) return text;
  TextTable table({{"query"},
                   {"times", TextTable::kRight},
                   {"last seen", TextTable::kRight},
                   {"hits then", TextTable::kRight},
                   {"mean ms", TextTable::kRight},
                   {"max ms", TextTable::kRight}});
  for (const v1::ReportQueriesResponse::Query& query : response.queries()) {
    table.Add({query.query(),
               absl::StrCat(query.count_error() > 0 ? "at most " : "", WithThousands(query.count())),
               TimeText(query.last_seen()), WithThousands(query.last_total_size()),
               absl::StrFormat("%.1f", query.mean_milliseconds()),
               absl::StrFormat("%.1f", query.max_milliseconds())});
  }
  return absl::StrCat(text, table.Render(TerminalWidth()));
}

int RunQueries(const Options& options) {
  v1::ReportQueriesRequest request;
  request.set_parent(Parent(options.target));
  request.set_kind(options.slow       ? v1::ReportQueriesRequest::SLOW
                   : options.few_hits ? v1::ReportQueriesRequest::FEW_HITS
                                      : v1::ReportQueriesRequest::NO_HITS);
  const absl::Time from = absl::Now() - absl::Hours(options.hours);
  request.mutable_from()->set_seconds(std::max<int64_t>(0, absl::ToUnixSeconds(from)));
  request.set_limit(options.limit);
  request.set_few_hits(options.few);
  request.set_slow_milliseconds(options.slow_milliseconds);
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  v1::ReportQueriesResponse response;
  auto status = (*backend)->Call("waymark.v1.AdminService.ReportQueries", request, &response);
  if (!status.ok()) return Fail(status);
  if (options.target.json) return PrintJson(response);
  std::fputs(Text(options, response).c_str(), stdout);
  return kDone;
}

}  // namespace
}  // namespace queries_command

void AddQueries(CLI::App* app, Run* run) {
  using namespace queries_command;
  CLI::App* command =
      AddCommand(app, "queries", "Which searches find nothing, find little, or take long",
                 "  waymark queries --data DIR                        # without hits, in the last day\n"
                 "  waymark queries --slow --slow-ms 50 --hours 168 --data DIR");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  auto* no_hits = command->add_flag("--no-hits", options->no_hits, "that find nothing (the default)");
  auto* few_hits = command->add_flag("--few-hits", options->few_hits, "that find one to --few items");
  auto* slow = command->add_flag("--slow", options->slow, "that take --slow-ms or longer, the longest first");
  no_hits->excludes(few_hits)->excludes(slow);
  few_hits->excludes(slow);
  command->add_option("--few", options->few, "how many are few [3]")->type_name("N");
  command->add_option("--slow-ms", options->slow_milliseconds, "milliseconds that are slow [100]")
      ->check(OverZero())
      ->type_name("MS");
  command->add_option("--hours", options->hours, "of the last so many hours (30 days are kept)")
      ->capture_default_str()
      ->check(OverZero())
      ->type_name("H");
  command->add_option("-n,--limit", options->limit, "how many queries [20]")->type_name("N");
  command->callback([=] { *run = [options] { return RunQueries(*options); }; });
}

}  // namespace waymark
