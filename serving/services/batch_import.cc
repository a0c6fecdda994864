#include "serving/services/batch_import.h"

namespace waymark {

absl::Status BatchImport::Open(const std::string& parent) {
  if (collection_ != nullptr) {
    if (parent.empty() || parent == parent_) return absl::OkStatus();
    return InvalidField("parent", absl::StrCat("is '", parent, "' after '", parent_,
                                               "' in the first message; a stream goes to one collection"));
  }
  auto collection = OpenForWrite(engine_, parent);
  if (!collection.ok()) return collection.status();
  collection_ = *collection;
  parent_ = parent;
  return absl::OkStatus();
}

absl::Status BatchImport::Add(std::string id, absl::StatusOr<Mutation> mutation) {
  batch_.Add(std::move(id), std::move(mutation));
  return batch_.size() < kMaxBatch ? absl::OkStatus() : Flush();
}

absl::Status BatchImport::Flush() {
  if (batch_.size() == 0) return absl::OkStatus();
  auto outcome = batch_.Commit(collection_, engine_->store().EndPosition());
  if (!outcome.ok()) return outcome.status();
  for (const WriteOutcome::Entry& entry : outcome->entries) {
    ++lines_;
    if (entry.status.ok()) {
      ++(entry.duplicate ? duplicates_ : written_);
      continue;
    }
    ++refused_;
    if (static_cast<int>(errors_.size()) >= kMaxImportErrors) continue;
    v1::ImportError& error = errors_.emplace_back();
    error.set_line(lines_);
    error.set_id(entry.id);
    error.set_message(std::string(entry.status.message()));
  }
  token_ = outcome->consistency_token;
  return absl::OkStatus();
}

}  // namespace waymark
