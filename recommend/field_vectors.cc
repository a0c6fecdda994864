#include "recommend/field_vectors.h"

#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "catalog/field_path.h"
#include "recommend/checked_file.h"
#include "recommend/field_vector.h"

namespace waymark {
namespace {

using storage::FieldRecord;

constexpr size_t kFillBatch = 1024, kFieldReplayBatch = 4096;
// Beyond what is asked for, what an index is asked for where its own scores are rounded.
constexpr size_t kMeasuredToo = 32;

// What an index was made of: another field, dimension or metric is another index.
std::string IdentityOf(const Field& field) {
  return absl::StrCat("field ", field.name(), ", dimension ", field.dimension(), ", metric ",
                      static_cast<int>(field.metric()));
}

std::vector<Field> VectorFieldsOf(const Schema& schema) {
  std::vector<Field> fields;
  for (const Field& field : schema.fields()) {
    if (field.type() == FieldRecord::VECTOR) fields.push_back(field);
  }
  return fields;
}

std::filesystem::path FolderOf(const std::filesystem::path& folder, const Field& field) {
  const std::string& name = field.name();
  return folder / absl::StrCat("field-", absl::Hex(XXH3_64bits(name.data(), name.size()), absl::kZeroPad16));
}

// Of many items, what each field's index takes in and lets go.
class VectorBatch {
 public:
  void Set(ItemOrdinal item, std::optional<std::vector<float>> vector) { latest_[item] = std::move(vector); }
  size_t size() const { return latest_.size(); }
  absl::Status PutInto(VectorIndex* index) {
    std::vector<ItemOrdinal> items, gone;
    std::vector<float> vectors;
    for (const auto& [item, vector] : latest_) {
      if (!vector) {
        gone.push_back(item);
        continue;
      }
      items.push_back(item);
      vectors.insert(vectors.end(), vector->begin(), vector->end());
    }
    latest_.clear();
    if (!items.empty()) {
      if (absl::Status status = index->Add(items, vectors); !status.ok()) return status;
    }
    if (!gone.empty()) index->Remove(gone);
    return absl::OkStatus();
  }

 private:
  std::map<ItemOrdinal, std::optional<std::vector<float>>> latest_;
};

}  // namespace

std::filesystem::path VectorFolder(const std::filesystem::path& data, Scope scope) {
  return data / "vectors" / absl::StrCat(scope.tenant, "-", scope.collection);
}

FieldVectors::FieldVectors(const Store* store, Scope scope, const Options& options)
    : store_(store), scope_(scope), options_(options), folder_(VectorFolder(store->data_folder(), scope)) {}

absl::StatusOr<std::unique_ptr<FieldVectors>> FieldVectors::Open(const Store* store, Scope scope,
                                                                 const std::shared_ptr<const Schema>& schema,
                                                                 const Options& options) {
  std::unique_ptr<FieldVectors> vectors(new FieldVectors(store, scope, options));
  LogOffset reached = store->End();
  std::vector<Indexed> fields;
  for (const Field& field : VectorFieldsOf(*schema)) {
    LogOffset position = 0;
    auto indexed = vectors->OpenField(field, &position);
    if (!indexed.ok()) return indexed.status();
    reached = std::min(reached, position);
    fields.push_back(*std::move(indexed));
  }
  vectors->SetFields(std::move(fields));
  vectors->reach_.Set(reached);
  if (absl::Status status = vectors->Replay(); !status.ok()) return status;
  vectors->upkeep_ = std::thread([v = vectors.get()] { v->Upkeep(); });
  return vectors;
}

FieldVectors::~FieldVectors() {
  {
    std::lock_guard lock(upkeep_mutex_);
    stop_ = true;
  }
  upkeep_wake_.notify_all();
  if (upkeep_.joinable()) upkeep_.join();
}

VectorIndexOptions FieldVectors::IndexOptions(const Field& field) const {
  VectorIndexOptions options;
  options.width = IndexedWidth(field);
  options.tail_limit = options_.tail_limit;
  const bool cosine =
      field.metric() == FieldRecord::COSINE || field.metric() == FieldRecord::METRIC_UNSPECIFIED;
  options.flat_segment_limit = cosine ? options_.cosine_flat_limit : options_.other_flat_limit;
  options.memory_limit_bytes = options_.memory_limit_bytes;
  return options;
}

absl::StatusOr<FieldVectors::Indexed> FieldVectors::OpenField(const Field& field, LogOffset* position) const {
  Indexed indexed{field, FolderOf(folder_, field), nullptr, ""};
  const std::string& name = field.name();
  auto opened = VectorIndex::Open(indexed.folder, IdentityOf(field), IndexOptions(field));
  if (opened.ok() && (*opened)->saved_position() <= store_->End()) {
    indexed.index = *std::move(opened);
    *position = indexed.index->saved_position();
    return indexed;
  }
  if (absl::IsResourceExhausted(opened.status())) return opened.status();
  if (opened.ok()) {
    indexed.rebuild_reason = "they are of a log that the store does not have";
  } else if (!absl::IsNotFound(opened.status())) {
    indexed.rebuild_reason = std::string(opened.status().message());
  }
  if (absl::IsDataLoss(opened.status())) {
    const std::string aside = SetAsideDamaged(indexed.folder);
    spdlog::error("vectors_rebuilt field='{}' reason=\"{}\" set_aside={}", name, indexed.rebuild_reason,
                  aside);
  } else if (!indexed.rebuild_reason.empty()) {
    spdlog::warn("vectors_rebuilt field='{}' reason=\"{}\"", name, indexed.rebuild_reason);
  }
  // Items that come meanwhile are in the log after this position, and are taken in again.
  *position = store_->End();
  if (absl::Status status = Fill(&indexed); !status.ok()) return status;
  return indexed;
}

absl::Status FieldVectors::Fill(Indexed* indexed) const {
  auto created = VectorIndex::Create(IndexOptions(indexed->field));
  if (!created.ok()) return created.status();
  indexed->index = *std::move(created);
  VectorBatch batch;
  absl::Status filled;
  absl::Status walked =
      store_->ForEachItem(scope_, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
        if (auto vector = IndexedVector(indexed->field, record.fields())) batch.Set(item, *std::move(vector));
        if (batch.size() >= kFillBatch) filled = batch.PutInto(indexed->index.get());
        return filled.ok();
      });
  if (!walked.ok()) return walked;
  if (filled.ok()) filled = batch.PutInto(indexed->index.get());
  return filled;
}

absl::Status FieldVectors::Replay() {
  std::vector<Change> changes;
  while (position() < store_->End()) {
    changes.clear();
    const auto collect = [&](const Change& change) {
      changes.push_back(change);
      return absl::OkStatus();
    };
    const LogOffset before = position();
    auto read = store_->Read(scope_, before, kFieldReplayBatch, collect, kItemChanges);
    if (!read.ok()) return read.status();
    if (*read <= before) break;
    if (absl::Status status = Apply(changes, *read); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<FieldVectors::Indexed> FieldVectors::Fields() const {
  std::lock_guard lock(fields_mutex_);
  return fields_;
}

void FieldVectors::SetFields(std::vector<Indexed> fields) {
  std::lock_guard lock(fields_mutex_);
  fields_.swap(fields);
}

absl::Status FieldVectors::Adopt(const std::shared_ptr<const Schema>& schema) {
  std::lock_guard applying(apply_mutex_);
  const std::vector<Indexed> before = Fields();
  const LogOffset end = store_->End();
  std::vector<Indexed> fields;
  for (const Field& field : VectorFieldsOf(*schema)) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Indexed& indexed) {
      return IdentityOf(indexed.field) == IdentityOf(field);
    });
    if (same != before.end()) {
      fields.push_back(*same);
      continue;
    }
    // What may lie here from before is of an older log: the store says what is.
    Indexed indexed{field, FolderOf(folder_, field), nullptr, ""};
    if (absl::Status status = Fill(&indexed); !status.ok()) return status;
    fields.push_back(std::move(indexed));
  }
  SetFields(std::move(fields));
  // Without fields nobody follows the log.
  if (before.empty()) reach_.Set(std::max(position(), end));
  WakeUpkeep();
  return absl::OkStatus();
}

absl::Status FieldVectors::Apply(absl::Span<const Change> changes, LogOffset up_to) {
  std::lock_guard applying(apply_mutex_);
  LogOffset reached = position();
  const std::vector<Indexed> fields = Fields();
  std::vector<VectorBatch> batches(fields.size());
  for (const Change& change : changes) {
    if (change.offset <= reached) continue;
    reached = change.offset;
    if (!change.entry.has_item()) continue;
    const storage::ItemChange& item = change.entry.item();
    for (size_t f = 0; f < fields.size(); ++f) {
      const std::string& name = fields[f].field.name();
      const bool touched = item.all() || item.record().deleted() ||
                           std::any_of(item.changed_fields().begin(), item.changed_fields().end(),
                                       [&](const std::string& changed) { return Touches(changed, name); });
      if (!touched) continue;
      batches[f].Set(item.ordinal(), item.record().deleted()
                                         ? std::nullopt
                                         : IndexedVector(fields[f].field, item.record().fields()));
    }
  }
  bool any = false;
  for (size_t f = 0; f < fields.size(); ++f) {
    any = any || batches[f].size() > 0;
    if (absl::Status status = batches[f].PutInto(fields[f].index.get()); !status.ok()) {
      return absl::Status(status.code(), absl::StrCat("field '", fields[f].field.name(),
                                                      "': ", std::string(status.message())));
    }
  }
  if (any) WakeUpkeep();
  reach_.Set(std::max(reached, up_to));
  return absl::OkStatus();
}

absl::Status FieldVectors::Checkpoint() {
  std::lock_guard applying(apply_mutex_);
  absl::Status first;
  for (const Indexed& indexed : Fields()) {
    first.Update(indexed.index->Save(indexed.folder, IdentityOf(indexed.field), position()));
  }
  return first;
}

absl::StatusOr<std::vector<ScoredItem>> FieldVectors::Search(const std::string& field,
                                                             absl::Span<const float> values, size_t limit,
                                                             const ItemSet* allowed,
                                                             absl::Span<const ItemOrdinal> excluded,
                                                             Deadline deadline) const {
  const std::vector<Indexed> fields = Fields();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Indexed& indexed) { return indexed.field.name() == field; });
  if (found == fields.end()) {
    std::string known;
    for (const Indexed& indexed : fields)
      absl::StrAppend(&known, known.empty() ? "" : ", ", indexed.field.name());
    return absl::InvalidArgumentError(absl::StrCat(
        "vector.field: '", field, "' is no VECTOR field of the schema; ",
        known.empty() ? "it has none, declare one with its dimension" : absl::StrCat("there are ", known)));
  }
  if (values.size() != static_cast<size_t>(found->field.dimension())) {
    return absl::InvalidArgumentError(absl::StrCat("vector.values: has ", values.size(), " numbers; field '",
                                                   field, "' has dimension ", found->field.dimension()));
  }
  double norm = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return absl::InvalidArgumentError(absl::StrCat("vector.values[", i, "]: is no finite number"));
    }
    norm += static_cast<double>(values[i]) * values[i];
  }
  const bool euclidean = found->field.metric() == FieldRecord::EUCLIDEAN;
  const bool dot = found->field.metric() == FieldRecord::DOT_PRODUCT;
  if (!euclidean && !dot && !(norm > 0)) {
    return absl::InvalidArgumentError("vector.values: are all zero, which is no direction");
  }
  const std::vector<float> asked = AskedVector(found->field, values);
  auto nearest =
      found->index->Search(asked, euclidean ? limit + kMeasuredToo : limit, allowed, excluded, deadline);
  if (!nearest.ok() || nearest->empty()) return nearest;
  std::vector<ItemOrdinal> items;
  for (const ScoredItem& hit : *nearest) items.push_back(hit.item);
  const auto width = static_cast<size_t>(IndexedWidth(found->field));
  std::vector<float> kept(items.size() * width);
  found->index->ReadVectors(items, absl::MakeSpan(kept));
  for (size_t i = 0; i < items.size(); ++i) {
    (*nearest)[i].score = static_cast<float>(
        NearnessOf(found->field, values, absl::MakeConstSpan(kept).subspan(i * width, width)));
  }
  std::sort(nearest->begin(), nearest->end(), [](const ScoredItem& a, const ScoredItem& b) {
    return a.score != b.score ? a.score > b.score : a.item < b.item;
  });
  if (nearest->size() > limit) nearest->resize(limit);
  return nearest;
}

absl::Status FieldVectors::Rebuild(const std::string& reason) {
  std::lock_guard applying(apply_mutex_);
  std::vector<Indexed> fields = Fields();
  for (Indexed& indexed : fields) {
    const std::string aside = SetAsideDamaged(indexed.folder);
    spdlog::warn("vectors_rebuilt field='{}' reason=\"{}\" set_aside={}", indexed.field.name(), reason,
                 aside);
    if (absl::Status status = Fill(&indexed); !status.ok()) return status;
    indexed.rebuild_reason = reason;
  }
  SetFields(fields);
  for (const Indexed& indexed : fields) {
    absl::Status saved = indexed.index->Save(indexed.folder, IdentityOf(indexed.field), position());
    if (!saved.ok()) return saved;
  }
  WakeUpkeep();
  return absl::OkStatus();
}

std::vector<FieldVectors::FieldStatus> FieldVectors::status() const {
  std::vector<FieldStatus> all;
  for (const Indexed& indexed : Fields()) {
    all.push_back({indexed.field.name(), indexed.index->size(), indexed.index->memory_bytes(), indexed.folder,
                   indexed.rebuild_reason});
  }
  return all;
}

void FieldVectors::WakeUpkeep() {
  {
    std::lock_guard lock(upkeep_mutex_);
    changed_ = true;
  }
  upkeep_wake_.notify_all();
}

void FieldVectors::Upkeep() {
  const auto stopped = [this] {
    std::lock_guard lock(upkeep_mutex_);
    return stop_;
  };
  while (true) {
    {
      std::unique_lock lock(upkeep_mutex_);
      upkeep_wake_.wait(lock, [this] { return stop_ || changed_; });
      if (stop_) return;
      changed_ = false;
    }
    for (const Indexed& indexed : Fields()) {
      const absl::Status status = indexed.index->Maintain(stopped);
      if (!status.ok() && !absl::IsCancelled(status)) {
        spdlog::warn(
            "the upkeep of the vectors of field '{}' failed and is tried again with the next change: {}",
            indexed.field.name(), status.ToString());
      }
    }
  }
}

}  // namespace waymark
