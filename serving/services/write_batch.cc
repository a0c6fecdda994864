#include "serving/services/write_batch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "serving/status_details.h"

namespace waymark {

absl::Status CheckBatchSize(int entries, std::string_view field) {
  if (entries >= 1 && entries <= kMaxBatch) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("has ", entries, " entries; a call takes 1 to ", kMaxBatch));
}

int64_t WriteOutcome::duplicates() const {
  return std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.duplicate; });
}

void WriteOutcome::Fill(google::protobuf::RepeatedPtrField<v1::WriteResult>* results) const {
  results->Reserve(static_cast<int>(entries.size()));
  for (const Entry& entry : entries) {
    v1::WriteResult* result = results->Add();
    result->set_id(entry.id);
    result->set_code(static_cast<int>(entry.status.code()));
    result->set_message(std::string(entry.status.message()));
    result->set_version(entry.version);
  }
}

void WriteBatch::Add(std::string id, absl::StatusOr<Mutation> mutation) {
  outcome_.entries.push_back({std::move(id), mutation.status(), 0, false});
  if (!mutation.ok()) return;
  places_.push_back(outcome_.entries.size() - 1);
  mutations_.push_back(*std::move(mutation));
}

absl::StatusOr<WriteOutcome> WriteBatch::Commit(Collection* collection, const LogPosition& position) {
  WriteOutcome outcome = std::exchange(outcome_, {});
  const std::vector<size_t> places = std::exchange(places_, {});
  outcome.consistency_token = EncodeConsistencyToken(position);
  if (places.empty()) return outcome;
  auto receipt = collection->Write(std::exchange(mutations_, {}));
  if (!receipt.ok()) return receipt.status();
  if (receipt->results.size() != places.size()) {
    return absl::InternalError(
        absl::StrCat("a write of ", places.size(), " entries has ", receipt->results.size(), " results"));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    WriteOutcome::Entry& entry = outcome.entries[places[i]];
    MutationResult& result = receipt->results[i];
    entry.status = std::move(result.status);
    entry.version = result.version;
    entry.duplicate = result.duplicate;
    if (!result.event_id.empty()) entry.id = std::move(result.event_id);
  }
  outcome.consistency_token = EncodeConsistencyToken(receipt->position);
  return outcome;
}

}  // namespace waymark
