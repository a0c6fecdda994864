#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/list_answer.h"
#include "app/option_checks.h"
#include "app/request_options.h"
#include "app/target.h"

namespace waymark {
namespace recommend_command {
namespace {

struct Options {
  Target target;
  RequestOptions request;
  std::string query;
  std::vector<std::string> items, like, unlike, seen_types;
  double diversity = 0, exploration = 0, seen_days = 0;
  bool fill = false, show_seen = false;
};

int RunRecommend(const Options& options) {
  v1::RecommendRequest request;
  if (auto status = FillRequest(options.request, Parent(options.target), &request); !status.ok()) {
    return FailUsage(std::string(status.message()));
  }
  request.set_query(options.query);
  for (const std::string& id : options.items) request.add_context_items(id);
  for (const std::string& id : options.like) request.add_positive_items(id);
  for (const std::string& id : options.unlike) request.add_negative_items(id);
  request.set_diversity(options.diversity);
  request.set_exploration(options.exploration);
  request.set_strict_filter(!options.fill);
  request.mutable_exclude_seen()->set_disabled(options.show_seen);
  for (const std::string& type : options.seen_types) request.mutable_exclude_seen()->add_types(type);
  if (options.seen_days > 0) {
    request.mutable_exclude_seen()->mutable_within()->set_seconds(
        static_cast<int64_t>(options.seen_days * 86400));
  }
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  v1::RecommendResponse response;
  auto status = (*backend)->Call("waymark.v1.RecommendService.Recommend", request, &response);
  if (!status.ok()) return Fail(status);
  return PrintAnswer(response, request.parent(), options.target.json, backend->get());
}

}  // namespace
}  // namespace recommend_command

void AddRecommend(CLI::App* app, Run* run) {
  using namespace recommend_command;
  CLI::App* command = AddCommand(app, "recommend", "The feed of a user, or items that go with an item",
                                 "  waymark recommend --data DIR --user 196 --limit 10\n"
                                 "  waymark recommend --data DIR --item 50 --filter 'year > 1990'");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  AddRequestOptions(command, &options->request);
  command->add_option("-i,--item", options->items, "what is being looked at; may be given again")
      ->type_name("ID")
      ->allow_extra_args(false);
  command->add_option("--query", options->query, "words that steer the feed")->type_name("QUERY");
  command->add_option("--like", options->like, "lean towards this item")
      ->type_name("ID")
      ->allow_extra_args(false);
  command->add_option("--unlike", options->unlike, "lean away from this item")
      ->type_name("ID")
      ->allow_extra_args(false);
  command->add_option("--diversity", options->diversity, "0: as ranked .. 1: as varied as possible")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("D");
  command
      ->add_option("--explore", options->exploration,
                   "share of places that go to items drawn at random, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("SHARE");
  command->add_flag("--fill", options->fill, "fill up with items that the filter leaves out");
  command->add_flag("--show-seen", options->show_seen, "show what the user has seen all the same");
  command->add_option("--seen-types", options->seen_types, "types of events that count as seen")
      ->delimiter(',')
      ->type_name("TYPE,...");
  command->add_option("--seen-days", options->seen_days, "only what was seen in so many days counts")
      ->check(OverZero())
      ->type_name("DAYS");
  command->callback([=] { *run = [options] { return RunRecommend(*options); }; });
}

}  // namespace waymark
