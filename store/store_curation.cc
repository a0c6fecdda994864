// Synonyms, rules and slots: records of the registry, written in batches.
#include <spdlog/spdlog.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "store/store_impl.h"
#include "store/text_check.h"

namespace waymark {
namespace {

// Of the registry family: 'y' synonyms, 'q' rules of queries, 'v' variants of slots, 's' slots.
std::string CurationPrefix(Scope scope, CurationKind kind) {
  constexpr const char* kLetters[] = {"y", "q", "v", "s"};
  return absl::StrCat(ScopeKey(scope), kLetters[static_cast<int>(kind)]);
}
std::string CurationKey(Scope scope, CurationKind kind, const std::string& id) {
  return absl::StrCat(CurationPrefix(scope, kind), id);
}
const char* NameOf(CurationKind kind) {
  constexpr const char* kNames[] = {"synonym", "rule", "slot variant", "slot"};
  return kNames[static_cast<int>(kind)];
}

absl::Status CheckExpected(const CurationWrite& write, const std::optional<storage::CurationRecord>& before) {
  const std::string what = absl::StrCat(NameOf(write.kind), " '", Shortened(write.id), "'");
  if (!write.record && !before) return absl::NotFoundError(absl::StrCat("there is no ", what));
  if (!write.expected_revision) return absl::OkStatus();
  const int64_t revision = before ? before->revision() : 0;
  if (revision == *write.expected_revision) return absl::OkStatus();
  if (*write.expected_revision == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is a ", what, " already, at revision ", revision, ": choose another id"));
  }
  return absl::AbortedError(absl::StrCat(what, " is at revision ", revision, ", not at ",
                                         *write.expected_revision,
                                         ": somebody wrote in between; look again"));
}

}  // namespace

absl::StatusOr<std::vector<CurationWritten>> Store::WriteCuration(Scope scope,
                                                                  std::vector<CurationWrite> writes) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  const int64_t now = absl::ToUnixMicros(impl_->options.clock->Now());
  std::vector<CurationWritten> written;
  // What earlier writes of this batch have made of their keys.
  std::map<std::string, std::optional<storage::CurationRecord>> pending;
  Batch batch;
  for (CurationWrite& write : writes) {
    CurationWritten& result = written.emplace_back();
    result.status = CheckId(absl::StrCat(NameOf(write.kind), ".id"), write.id);
    if (!result.status.ok()) continue;
    const std::string key = CurationKey(scope, write.kind, write.id);
    if (const auto found = pending.find(key); found != pending.end()) {
      result.before = found->second;
    } else {
      auto stored = GetCuration(scope, write.kind, write.id);
      if (stored.ok()) {
        result.before = *std::move(stored);
      } else if (!absl::IsNotFound(stored.status())) {
        return stored.status();
      }
    }
    result.status = CheckExpected(write, result.before);
    if (!result.status.ok()) continue;
    if (write.record) {
      storage::CurationRecord& record = *write.record;
      record.set_id(write.id);
      record.set_revision(result.before ? result.before->revision() + 1 : 1);
      record.set_create_time_us(result.before ? result.before->create_time_us() : now);
      record.set_update_time_us(now);
      impl_->database->Put(batch, Family::kRegistry, key, record);
      result.after = std::move(record);
    } else {
      impl_->database->Delete(batch, Family::kRegistry, key);
    }
    pending[key] = result.after;
  }
  if (batch.Count() > 0) {
    if (absl::Status status = impl_->database->Write(batch, true); !status.ok()) return status;
  }
  return written;
}

absl::StatusOr<storage::CurationRecord> Store::GetCuration(Scope scope, CurationKind kind,
                                                           const std::string& id) const {
  storage::CurationRecord record;
  absl::Status status =
      impl_->database->GetRecord(Family::kRegistry, CurationKey(scope, kind, id),
                                 absl::StrCat(NameOf(kind), " '", Shortened(id), "'"), record);
  if (!status.ok()) return status;
  return record;
}

absl::Status Store::ForEachCuration(Scope scope, CurationKind kind, const std::string& after,
                                    const std::function<bool(const storage::CurationRecord&)>& visit) const {
  auto walk = impl_->database->Walk(Family::kRegistry, CurationPrefix(scope, kind));
  if (!after.empty()) walk->Seek(absl::StrCat(CurationKey(scope, kind, after), absl::string_view("\0", 1)));
  storage::CurationRecord record;
  for (; walk->Valid(); walk->Next()) {
    // What cannot be read is left out: the others are still of use.
    if (absl::Status status = ParseRecord(walk->value(), NameOf(kind), record); !status.ok()) {
      spdlog::error("{}: {}", impl_->database->folder().string(), status.ToString());
      continue;
    }
    if (!visit(record)) return absl::OkStatus();
  }
  return impl_->database->Check(walk->status());
}

}  // namespace waymark
