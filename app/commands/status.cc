#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/progress.h"
#include "app/target.h"
#include "app/text_table.h"
#include "waymark/v1/admin.pb.h"

namespace waymark {
namespace status_command {
namespace {

std::string Megabytes(int64_t bytes) { return absl::StrFormat("%.1f MB", bytes / 1e6); }

// What each part takes, the largest in memory first.
void AppendParts(const v1::CollectionStatus& status, std::string* text) {
  std::vector<v1::PartStatus> parts(status.parts().begin(), status.parts().end());
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return a.memory_bytes() + a.disk_bytes() > b.memory_bytes() + b.disk_bytes();
  });
  TextTable table({{"part", TextTable::kText}, {"memory", TextTable::kRight}, {"disk", TextTable::kRight}});
  for (const v1::PartStatus& part : parts) {
    table.Add({part.name(), part.memory_bytes() > 0 ? Megabytes(part.memory_bytes()) : "",
               part.disk_bytes() > 0 ? Megabytes(part.disk_bytes()) : ""});
  }
  absl::StrAppend(text, "\n", table.Render(TerminalWidth()), "\n");
}

std::string Text(const v1::Status& status, const std::string& where, bool parts) {
  std::string text = absl::StrCat("waymark ", status.version(), ", ", where, "\n");
  if (status.uptime_seconds() > 0) {
    absl::StrAppend(&text, "up for       ", ShortDuration(absl::Seconds(status.uptime_seconds())), "\n");
  }
  absl::StrAppend(&text, "data folder  ", status.data_folder(), "\n", "store        ",
                  Megabytes(status.store_bytes()), ", ", WithThousands(status.log_end()), " changes\n",
                  "vectors by   FAISS, ", status.faiss_build(), "\n");
  if (status.served_records_dropped() > 0) {
    absl::StrAppend(&text, "served lists ", WithThousands(status.served_records_dropped()),
                    " records dropped\n");
  }
  for (const v1::CollectionStatus& c : status.collections()) {
    absl::StrAppend(&text, "\n", c.name(), "\n  items      ", WithThousands(c.items()), "\n  users      ",
                    WithThousands(c.users()), "\n  events     ", WithThousands(c.events()), "\n  keyword    ",
                    WithThousands(c.indexed_items()), " items in ", WithThousands(c.index_segments()),
                    c.index_segments() == 1 ? " segment, " : " segments, ", Megabytes(c.index_bytes()),
                    "\n  vectors    ", WithThousands(c.vectors()), "\n");
    if (c.suggestions() > 0 || c.past_queries() > 0) {
      absl::StrAppend(&text, "  suggested  ", WithThousands(c.suggestions()), " texts, ",
                      Megabytes(c.suggestion_bytes()), ", of ", WithThousands(c.past_queries()),
                      " past queries, behind by ", WithThousands(c.suggestion_lag()), " changes\n");
    }
    if (!c.suggestion_rebuild_reason().empty())
      absl::StrAppend(&text, "             made anew: ", c.suggestion_rebuild_reason(), "\n");
    absl::StrAppend(&text, "  behind by  ", WithThousands(c.catalog_lag()), " changes (catalogue), ",
                    WithThousands(c.index_lag()), " (keyword index), ", WithThousands(c.behaviour_lag()),
                    " (behaviour)\n");
    for (const v1::PartStatus& part : c.parts()) {
      if (part.rebuild_reason().empty()) continue;
      absl::StrAppend(&text, "  made anew  ", part.name(), ": ", part.rebuild_reason(), "\n");
    }
    if (parts) AppendParts(c, &text);
    absl::StrAppend(&text, "  release    ", c.active_release().empty() ? "none" : c.active_release());
    if (!c.retriever().empty()) absl::StrAppend(&text, ", retriever ", c.retriever());
    if (!c.ranker().empty()) absl::StrAppend(&text, ", ranker ", c.ranker());
    absl::StrAppend(&text, "\n");
  }
  if (status.collections().empty())
    absl::StrAppend(&text, "\nno collections yet: waymark import items FILE --data DIR\n");
  return text;
}

// Leaves the target's collection alone, by its own name: of aliases there is no status.
absl::Status KeepOne(const std::string& name, v1::Status* status) {
  auto* all = status->mutable_collections();
  all->erase(std::remove_if(all->begin(), all->end(),
                            [&](const v1::CollectionStatus& one) { return one.name() != name; }),
             all->end());
  return all->empty() ? absl::NotFoundError(absl::StrCat(
                            "there is no collection ", name,
                            "; without --tenant and --collection status shows those that there are"))
                      : absl::OkStatus();
}

int RunStatus(const Target& target, bool parts, bool one) {
  auto backend = OpenTarget(target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  v1::Status status;
  auto called = (*backend)->Call("waymark.v1.AdminService.GetStatus", v1::GetStatusRequest(), &status);
  if (!called.ok()) return Fail(called);
  if (one) {
    if (auto kept = KeepOne(Parent(target), &status); !kept.ok()) return Fail(kept);
  }
  if (target.json) return PrintJson(status);
  std::fputs(Text(status, (*backend)->where(), parts).c_str(), stdout);
  return kDone;
}

}  // namespace
}  // namespace status_command

void AddStatus(CLI::App* app, Run* run) {
  using namespace status_command;
  CLI::App* command = AddCommand(app, "status", "What a data folder holds: versions, lags, sizes",
                                 "  waymark status --data DIR\n"
                                 "  waymark status --data DIR --parts");
  auto target = std::make_shared<Target>();
  auto parts = std::make_shared<bool>(false);
  AddTargetOptions(command, target.get());
  command->add_flag("--parts", *parts, "what each field and part takes in memory and on disk");
  command->callback([=] {
    const bool one = command->count("--tenant") + command->count("--collection") > 0;
    *run = [target, parts, one] { return RunStatus(*target, *parts, one); };
  });
}

}  // namespace waymark
