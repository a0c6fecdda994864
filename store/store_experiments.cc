// Experiments: records under a compare-and-set, decisions that are only ever appended, exposures.
#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "store/registry_records_impl.h"
#include "store/store_impl.h"
#include "store/text_check.h"

namespace waymark {
namespace {

constexpr size_t kDeleteBatch = 10000;

// Keys of the registry family, and of the exposures.
std::string ExperimentKey(Scope scope, const std::string& id) {
  return absl::StrCat(ScopeKey(scope), "x", id);
}
std::string LayerKey(Scope scope, const std::string& id) { return absl::StrCat(ScopeKey(scope), "l", id); }
std::string ServedSumsKey(Scope scope, const std::string& id) {
  return absl::StrCat(ScopeKey(scope), "g", id);
}
std::string LooksKey(Scope scope, const std::string& id) { return absl::StrCat(ScopeKey(scope), "k", id); }
std::string DecisionPrefix(Scope scope, const std::string& id) {
  return absl::StrCat(ScopeKey(scope), "d", id, absl::string_view("\0", 1));
}
std::string DecisionKey(Scope scope, const std::string& id, int64_t sequence) {
  std::string key = DecisionPrefix(scope, id);
  AppendBigEndian64(key, static_cast<uint64_t>(sequence));
  return key;
}
std::string ExposurePrefix(Scope scope, const std::string& experiment) {
  return absl::StrCat(ScopeKey(scope), experiment, absl::string_view("\0", 1));
}
std::string ExposureKey(Scope scope, const std::string& experiment, const std::string& unit) {
  return absl::StrCat(ExposurePrefix(scope, experiment), unit);
}

// «u:», «v:», «s:» or «r:» and an id.
absl::Status CheckUnit(const std::string& unit) {
  return CheckId("exposure.unit", unit.size() < 2 ? std::string_view() : std::string_view(unit).substr(2));
}

// Numbers go on where the decisions of an earlier experiment of this id end.
absl::Status AppendDecision(const Database& database, Scope scope, storage::DecisionRecord decision,
                            const std::string& id, Batch& batch, int64_t* count) {
  auto walk = database.Walk(Family::kRegistry, DecisionPrefix(scope, id));
  walk->SeekLast();
  const size_t prefix = DecisionPrefix(scope, id).size();
  const uint64_t last = walk->Valid() ? ReadBigEndian64(walk->key().substr(prefix)) : 0;
  if (absl::Status status = database.Check(walk->status()); !status.ok()) return status;
  decision.set_experiment(id);
  decision.set_sequence(static_cast<int64_t>(last) + 1);
  database.Put(batch, Family::kRegistry, DecisionKey(scope, id, decision.sequence()), decision);
  if (count != nullptr) *count = decision.sequence();
  return absl::OkStatus();
}

absl::Status DeleteAllExposures(Database& database, Scope scope, const std::string& experiment) {
  auto walk = database.Walk(Family::kExposures, ExposurePrefix(scope, experiment), true);
  while (walk->Valid()) {
    Batch batch;
    for (size_t count = 0; walk->Valid() && count < kDeleteBatch; walk->Next(), ++count) {
      database.Delete(batch, Family::kExposures, walk->key());
    }
    if (absl::Status status = database.Write(batch, false); !status.ok()) return status;
  }
  return database.Check(walk->status());
}

}  // namespace

absl::StatusOr<storage::ExperimentRecord> Store::PutExperiment(Scope scope, storage::ExperimentRecord record,
                                                               int64_t expected_revision,
                                                               const storage::DecisionRecord* decision) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  if (absl::Status status = CheckId("experiment.id", record.id()); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  auto before = GetExperiment(scope, record.id());
  if (!before.ok() && !absl::IsNotFound(before.status())) return before.status();
  const int64_t revision = before.ok() ? before->revision() : 0;
  if (revision != expected_revision) {
    if (expected_revision == 0) {
      return absl::AlreadyExistsError(
          absl::StrCat("there is an experiment '", Shortened(record.id()), "' already: choose another id"));
    }
    return absl::AbortedError(absl::StrCat("experiment '", Shortened(record.id()), "' is at revision ",
                                           revision, ", no longer at ", expected_revision,
                                           ": somebody decided in between; look again"));
  }
  record.set_revision(expected_revision + 1);
  Batch batch;
  if (decision != nullptr) {
    int64_t count = 0;
    absl::Status status = AppendDecision(*impl_->database, scope, *decision, record.id(), batch, &count);
    if (!status.ok()) return status;
    record.set_decisions(count);
  }
  impl_->database->Put(batch, Family::kRegistry, ExperimentKey(scope, record.id()), record);
  if (absl::Status status = impl_->database->Write(batch, true); !status.ok()) return status;
  return record;
}

absl::StatusOr<storage::ExperimentRecord> Store::GetExperiment(Scope scope, const std::string& id) const {
  storage::ExperimentRecord record;
  absl::Status status = impl_->database->GetRecord(Family::kRegistry, ExperimentKey(scope, id),
                                                   absl::StrCat("experiment '", Shortened(id), "'"), record);
  if (!status.ok()) return status;
  return record;
}

std::vector<storage::ExperimentRecord> Store::Experiments(Scope scope) const {
  return ReadRegistry<storage::ExperimentRecord>(*impl_->database, ScopeKey(scope) + "x");
}

absl::Status Store::ForEachExperiment(
    Scope scope, const std::string& after,
    const std::function<bool(const storage::ExperimentRecord&)>& visit) const {
  auto walk = impl_->database->Walk(Family::kRegistry, ScopeKey(scope) + "x");
  if (!after.empty()) walk->Seek(absl::StrCat(ExperimentKey(scope, after), absl::string_view("\0", 1)));
  storage::ExperimentRecord record;
  for (; walk->Valid(); walk->Next()) {
    // What cannot be read is left out: the others are still of use.
    if (absl::Status status = ParseRecord(walk->value(), "experiment", record); !status.ok()) {
      spdlog::error("{}: {}", impl_->database->folder().string(), status.ToString());
      continue;
    }
    if (!visit(record)) return absl::OkStatus();
  }
  return impl_->database->Check(walk->status());
}

absl::Status Store::DeleteExperiment(Scope scope, const std::string& id, int64_t expected_revision,
                                     const storage::DecisionRecord& decision) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  auto before = GetExperiment(scope, id);
  if (!before.ok()) return before.status();
  if (before->revision() != expected_revision) {
    return absl::AbortedError(absl::StrCat("experiment '", Shortened(id), "' is at revision ",
                                           before->revision(), ", no longer at ", expected_revision,
                                           ": look again"));
  }
  // The record goes last: a stop before leaves a finished experiment without some exposures.
  if (absl::Status status = DeleteAllExposures(*impl_->database, scope, id); !status.ok()) return status;
  Batch batch;
  absl::Status status = AppendDecision(*impl_->database, scope, decision, id, batch, nullptr);
  if (!status.ok()) return status;
  impl_->database->Delete(batch, Family::kRegistry, ExperimentKey(scope, id));
  impl_->database->Delete(batch, Family::kRegistry, ServedSumsKey(scope, id));
  impl_->database->Delete(batch, Family::kRegistry, LooksKey(scope, id));
  return impl_->database->Write(batch, true);
}

std::vector<storage::DecisionRecord> Store::Decisions(Scope scope, const std::string& experiment) const {
  return ReadRegistry<storage::DecisionRecord>(*impl_->database, DecisionPrefix(scope, experiment));
}

absl::Status Store::PutLayer(Scope scope, const storage::LayerRecord& layer) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  if (!layer.id().empty()) {
    if (absl::Status status = CheckId("layer.id", layer.id()); !status.ok()) return status;
  }
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  Batch batch;
  impl_->database->Put(batch, Family::kRegistry, LayerKey(scope, layer.id()), layer);
  return impl_->database->Write(batch, true);
}

std::vector<storage::LayerRecord> Store::Layers(Scope scope) const {
  return ReadRegistry<storage::LayerRecord>(*impl_->database, ScopeKey(scope) + "l");
}

absl::Status Store::DeleteLayer(Scope scope, const std::string& id) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  std::lock_guard<std::mutex> lock(impl_->registry_mutex);
  storage::LayerRecord layer;
  absl::Status status = impl_->database->GetRecord(Family::kRegistry, LayerKey(scope, id),
                                                   absl::StrCat("layer '", Shortened(id), "'"), layer);
  if (!status.ok()) return status;
  Batch batch;
  impl_->database->Delete(batch, Family::kRegistry, LayerKey(scope, id));
  return impl_->database->Write(batch, true);
}

absl::Status Store::PutLooks(Scope scope, const storage::LooksRecord& looks) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  Batch batch;
  impl_->database->Put(batch, Family::kRegistry, LooksKey(scope, looks.experiment()), looks);
  return impl_->database->Write(batch, !looks.planned().empty());
}

storage::LooksRecord Store::Looks(Scope scope, const std::string& experiment) const {
  storage::LooksRecord looks;
  const absl::Status status =
      impl_->database->GetRecord(Family::kRegistry, LooksKey(scope, experiment), "looks", looks);
  if (!status.ok() && !absl::IsNotFound(status))
    spdlog::error("looks of '{}': {}", experiment, status.ToString());
  return status.ok() ? looks : storage::LooksRecord();
}

absl::Status Store::PutServedSums(Scope scope, absl::Span<const storage::ServedSumsRecord> sums) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  Batch batch;
  for (const storage::ServedSumsRecord& record : sums) {
    impl_->database->Put(batch, Family::kRegistry, ServedSumsKey(scope, record.experiment()), record);
  }
  return impl_->database->Write(batch, false);
}

std::vector<storage::ServedSumsRecord> Store::ServedSums(Scope scope) const {
  return ReadRegistry<storage::ServedSumsRecord>(*impl_->database, ScopeKey(scope) + "g");
}

absl::Status Store::PutExposures(Scope scope, absl::Span<const storage::ExposureRecord> exposures) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  Batch batch;
  for (const storage::ExposureRecord& exposure : exposures) {
    if (absl::Status status = CheckUnit(exposure.unit()); !status.ok()) return status;
    impl_->database->Put(batch, Family::kExposures,
                         ExposureKey(scope, exposure.experiment(), exposure.unit()), exposure);
  }
  return impl_->database->Write(batch, false);
}

absl::StatusOr<storage::ExposureRecord> Store::GetExposure(Scope scope, const std::string& experiment,
                                                           const std::string& unit) const {
  storage::ExposureRecord exposure;
  absl::Status status = impl_->database->GetRecord(
      Family::kExposures, ExposureKey(scope, experiment, unit),
      absl::StrCat("exposure of '", Shortened(unit), "' in '", Shortened(experiment), "'"), exposure);
  if (!status.ok()) return status;
  return exposure;
}

absl::Status Store::DeleteExposure(Scope scope, const std::string& experiment, const std::string& unit) {
  if (absl::Status status = impl_->CheckWritable(); !status.ok()) return status;
  Batch batch;
  impl_->database->Delete(batch, Family::kExposures, ExposureKey(scope, experiment, unit));
  return impl_->database->Write(batch, true);
}

absl::Status Store::ForEachExposure(Scope scope, const std::string& experiment,
                                    const std::function<bool(const storage::ExposureRecord&)>& visit) const {
  auto walk = impl_->database->Walk(Family::kExposures, ExposurePrefix(scope, experiment), true);
  storage::ExposureRecord exposure;
  for (; walk->Valid(); walk->Next()) {
    if (absl::Status status = ParseRecord(walk->value(), "exposure", exposure); !status.ok()) return status;
    if (!visit(exposure)) return absl::OkStatus();
  }
  return impl_->database->Check(walk->status());
}

}  // namespace waymark
