#include "training/distributed/rank_checkpoints.h"

#include <limits>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr int64_t kPublishAfter = 8;  // steps

double SecondsSinceThen(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

// How the flat buffers of a slice, and shares of moments, lie in the whole, and who writes them.
void PlaceRuns(const RetrieverModel& model, const RankMesh& mesh, CheckpointTensor* t, bool moments) {
  const EncoderSlice& slice = model.share.encoder;
  const int64_t own = model.dense.flat.numel();
  const FlatSlice share = moments ? model.share.MomentsOf(own) : FlatSlice{0, own};
  t->shape = {WholeFloats(model.shape)};
  t->own_floats = share.count;
  t->runs = ClipRuns(RunsOfSlice(model.shape, slice, true), share);
  // What several ranks have alike the first of them writes.
  const bool writes = mesh.data()->rank() == 0 || (moments && model.share.moments.stride > 1);
  if (writes) t->written_runs = ClipRuns(RunsOfSlice(model.shape, slice, slice.part == 0), share);
}

}  // namespace

std::vector<CheckpointTensor> TensorsOf(RetrieverModel* model, BestWeights* best, int64_t id_rows,
                                        RankVocabulary* vocabulary, const RankMesh& mesh) {
  const std::vector<NamedShape> tables = model->shape.Tables(id_rows);
  const std::vector<int64_t> dense = {model->dense.flat.numel()}, id = tables[0].shape,
                             bucket = tables[1].shape;
  const RowShare rows = model->share.rows, moments = model->share.moments;
  std::vector<CheckpointTensor> tensors = {
      {"dense", &model->dense.flat, dense, {}},
      {"dense.first", &model->dense_moments.first, dense, {}},
      {"dense.second", &model->dense_moments.second, dense, {}},
      {"best.dense", &best->dense, dense, {}},
      {"id", &model->tables.id, id, rows},
      {"id.first", &model->id_moments.first, id, model->share.MomentsOfRows()},
      {"id.second", &model->id_moments.second, id, model->share.MomentsOfRows()},
      {"buckets", &model->tables.buckets, bucket, rows},
      {"buckets.first", &model->bucket_moments.first, bucket, model->share.MomentsOfRows()},
      {"buckets.second", &model->bucket_moments.second, bucket, model->share.MomentsOfRows()},
      {"best.id", &best->id, id, rows},
      {"best.buckets", &best->buckets, bucket, rows}};
  // Every rank has and reads all of the vocabulary.
  const auto add_vocabulary = [&](std::optional<RowShare> written) {
    if (vocabulary == nullptr) return;
    for (CheckpointTensor& t : vocabulary->Tensors(written)) tensors.push_back(std::move(t));
  };
  if (mesh.shape().slices() == 1 && moments.stride == 1) {
    add_vocabulary(std::nullopt);
    return tensors;
  }
  const RowShare nothing{std::numeric_limits<int64_t>::max(), 1};
  const bool has_tables = model->share.encoder.items;
  const RowShare written = mesh.slice() == 0 ? RowShare{mesh.data()->rank(), mesh.data()->size()} : nothing;
  for (CheckpointTensor& t : tensors) {
    if (t.shape.size() == 1) {
      const bool of_moments =
          t.tensor == &model->dense_moments.first || t.tensor == &model->dense_moments.second;
      PlaceRuns(*model, mesh, &t, of_moments);
      continue;
    }
    if (!has_tables) t.share = nothing;
    t.written = written;
  }
  add_vocabulary(written);
  return tensors;
}

RankCheckpoints::RankCheckpoints(const JobOptions& job, std::string fingerprint, RankGroup* group,
                                 std::vector<CheckpointTensor> tensors)
    : job_(job), group_(group), tensors_(std::move(tensors)) {
  if (!job.checkpoints.empty()) {
    files_.emplace(job.checkpoints, job.keep_checkpoints, std::move(fingerprint), group, job.precision);
  }
  Start();
}

void RankCheckpoints::Say(const std::string& text) const {
  if (job_.say && group_->rank() == 0) job_.say(text);
}

absl::StatusOr<std::optional<TrainingPlace>> RankCheckpoints::Load() {
  std::optional<TrainingPlace> place;
  if (!files_) return place;
  auto loaded = files_->LoadNewest(tensors_);
  if (!loaded.ok()) return loaded.status();
  if (!*loaded) return place;
  for (const std::string& refused : (*loaded)->refused)
    Say(absl::StrCat("a damaged checkpoint is passed over: ", refused));
  place = (*loaded)->place;
  Say(absl::StrCat("goes on from ", (*loaded)->folder, " of ", (*loaded)->ranks, " ranks: epoch ",
                   place->epoch + 1, ", step ", place->step));
  if (const std::string now = PrecisionText(job_.precision); (*loaded)->precision != now) {
    Say(absl::StrCat("it was trained in ", (*loaded)->precision, " until there, and goes on in ", now));
  }
  return place;
}

void RankCheckpoints::Start() { last_ = std::chrono::steady_clock::now(); }

bool RankCheckpoints::Due() const {
  return files_ && SecondsSinceThen(last_) >= absl::ToDoubleSeconds(job_.checkpoint_interval);
}

absl::Status RankCheckpoints::Save(const TrainingPlace& place) {
  if (!files_) return absl::OkStatus();
  PublishOrSay();
  const auto before = std::chrono::steady_clock::now();
  const absl::Status begun = files_->Begin(tensors_, place);
  publish_after_ = place.step + kPublishAfter;
  Start();
  seconds_ += SecondsSinceThen(before);
  return begun;
}

absl::Status RankCheckpoints::Publish() {
  if (!files_ || !files_->pending()) return absl::OkStatus();
  const auto before = std::chrono::steady_clock::now();
  const absl::Status published = files_->Publish();
  ++(published.ok() ? written_ : failed_);
  seconds_ += SecondsSinceThen(before);
  return published;
}

void RankCheckpoints::PublishOrSay() {
  if (absl::Status published = Publish(); !published.ok()) {
    Say(absl::StrCat(published.message(), "; training goes on"));
  }
}

void RankCheckpoints::PublishWritten(int64_t step) {
  if (files_ && files_->pending() && step >= publish_after_) PublishOrSay();
}

void RankCheckpoints::RemoveAll() {
  if (files_) files_->RemoveAll();
}

}  // namespace waymark
