#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/target.h"
#include "app/text_table.h"
#include "serving/services/data_check_service.h"
#include "store/damaged_log.h"
#include "store/server_file.h"
#include "store/store.h"
#include "store/store_check.h"
#include "waymark/v1/admin.pb.h"

namespace waymark {
namespace check_command {
namespace {

struct Options {
  Target target;
  bool repair = false, give_up = false;
  bool one = false;  // of the tenant and collection that the target names; else all
};

std::string Text(const v1::CheckDataResponse& checked, const std::string& where) {
  TextTable table({{"collection", TextTable::kText},
                   {"part", TextTable::kText},
                   {"files", TextTable::kRight},
                   {"MB", TextTable::kRight},
                   {"items compared", TextTable::kRight},
                   {"log position", TextTable::kRight}});
  for (const v1::CheckedPart& part : checked.parts()) {
    table.Add({part.collection(), part.part(), WithThousands(part.files()),
               absl::StrFormat("%.1f", part.bytes() / 1e6), WithThousands(part.items()),
               WithThousands(part.log_position())});
  }
  std::string text = table.Render(TerminalWidth());
  int64_t open = checked.findings_count();
  for (const v1::CheckFinding& finding : checked.findings()) {
    open -= finding.repaired();
    absl::StrAppend(&text, "\n", finding.collection(), finding.collection().empty() ? "" : " ",
                    finding.part(), ": ", finding.where(), ": ", finding.what(), "\n  ",
                    finding.repaired() ? "repaired: " : "", finding.remedy(), "\n");
  }
  if (checked.findings_count() == 0) {
    absl::StrAppend(&text, "\n", where, " agrees with its store\n");
  } else {
    absl::StrAppend(&text, "\n", WithThousands(checked.findings_count()),
                    checked.findings_count() == 1 ? " difference" : " differences", ", ", WithThousands(open),
                    " not repaired\n");
    if (open > 0)
      absl::StrAppend(&text, "waymark check --repair makes what is derived anew from the store\n");
  }
  return text;
}

// 0: all agrees, or was repaired; 1: something differs.
int Print(const Options& options, const v1::CheckDataResponse& checked, const std::string& where) {
  int64_t open = checked.findings_count();
  for (const v1::CheckFinding& finding : checked.findings()) open -= finding.repaired();
  if (options.target.json) {
    if (const int code = PrintJson(checked); code != kDone) return code;
  } else {
    std::fputs(Text(checked, where).c_str(), stdout);
  }
  if (open > 0) std::fputs("waymark: the data differs from its store\n", stderr);
  return open > 0 ? kFailed : kDone;
}

// The files of a folder that nobody has open, before an engine opens it and puts damage right by itself.
absl::StatusOr<std::vector<CollectionCheck>> CheckClosed(const Options& options) {
  auto store = Store::Open(options.target.data, {.create = false, .read_only = true});
  if (!store.ok()) return store.status();
  std::vector<CollectionCheck> checks;
  CollectionCheck& shared = checks.emplace_back();
  shared.name = {"", ""};
  CheckStoreFiles(**store, &shared.parts.emplace_back(PartCheck{.part = "store"}));
  auto served = ServedLog::Open(options.target.data, {.read_only = true});
  CheckServedFiles(options.target.data,
                   served.ok() ? absl::StatusOr<const ServedLog*>(served->get())
                               : absl::StatusOr<const ServedLog*>(served.status()),
                   &shared.parts.emplace_back(PartCheck{.part = "served"}));
  std::optional<Scope> only;
  if (options.one) {
    auto found = (*store)->FindCollection({options.target.tenant, options.target.collection});
    if (!found.ok()) return found.status();
    only = *found;
  }
  for (const auto& record : (*store)->Collections()) {
    const Scope scope{record.tenant_number(), record.collection_number()};
    if (only && !(*only == scope)) continue;
    checks.push_back({{record.tenant(), record.collection()}, CheckFiles(options.target.data, scope)});
  }
  return checks;
}

int RunCheck(const Options& options) {
  const bool served = !options.target.server.empty() || ReadServerFile(options.target.data).ok();
  v1::CheckDataResponse before;
  if (options.give_up) {
    if (served)
      return FailUsage("--give-up-damaged-writes: a server has the folder open, so its log is whole");
    if (auto status = GiveUpDamagedWrites(options.target.data); !status.ok()) return Fail(status);
  }
  if (!served) {
    auto closed = CheckClosed(options);
    if (!closed.ok()) return Fail(closed.status());
    ToMessage(*closed, &before);
    if (before.findings_count() > 0 && !options.repair) {
      return Print(options, before, absl::StrCat("the data folder ", options.target.data));
    }
  }
  // Opening the folder sets damaged files aside and makes them anew: that is the repair of files.
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  v1::CheckDataRequest request;
  request.set_repair(options.repair);
  if (options.one) request.set_parent(Parent(options.target));
  v1::CheckDataResponse checked;
  auto status = (*backend)->Call("waymark.v1.AdminService.CheckData", request, &checked);
  if (!status.ok()) return Fail(status);
  if (options.repair) {
    if (status = (*backend)->Settle(); !status.ok()) return Fail(status);
  }
  for (v1::CheckFinding& finding : *before.mutable_findings()) {
    // The store, models and what was served are not made anew.
    if (finding.part() != "store" && finding.part() != "served") {
      finding.set_repaired(true);
      finding.set_remedy("set aside, and made anew from the store");
    }
    *checked.add_findings() = finding;
  }
  checked.set_findings_count(checked.findings_count() + before.findings_count());
  return Print(options, checked, (*backend)->where());
}

}  // namespace
}  // namespace check_command

void AddCheck(CLI::App* app, Run* run) {
  using namespace check_command;
  CLI::App* command =
      AddCommand(app, "check", "Prove that everything derived agrees with the store",
                 "  waymark check --data DIR\n"
                 "  waymark check --data DIR --repair\n\n"
                 "All collections, unless --tenant or --collection names one. Exit codes: 0 all agrees\n"
                 "(or was repaired), 1 something differs.");
  auto options = std::make_shared<Options>();
  AddTargetOptions(command, &options->target);
  command->add_flag("--repair", options->repair, "set aside what differs and make it anew from the store");
  command->add_flag(
      "--give-up-damaged-writes", options->give_up,
      "go on without the writes that lie behind damage in the store's log; they are gone for good");
  command->callback([=] {
    options->one = command->count("--tenant") + command->count("--collection") > 0;
    *run = [options] { return RunCheck(*options); };
  });
}

}  // namespace waymark
