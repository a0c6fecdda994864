#include "training/distributed/rank_checkpoints.h"

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr int64_t kPublishAfter = 8;  // steps

double SecondsSinceThen(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

std::vector<CheckpointTensor> TensorsOf(RetrieverModel* model, BestWeights* best, int64_t items,
                                        RowShare rows) {
  const std::vector<NamedShape> tables = model->shape.Tables(items);
  const std::vector<int64_t> dense = {model->dense.flat.numel()}, id = tables[0].shape,
                             bucket = tables[1].shape;
  return {{"dense", &model->dense.flat, dense, {}},
          {"dense.first", &model->dense_moments.first, dense, {}},
          {"dense.second", &model->dense_moments.second, dense, {}},
          {"id", &model->tables.id, id, rows},
          {"id.first", &model->id_moments.first, id, rows},
          {"id.second", &model->id_moments.second, id, rows},
          {"buckets", &model->tables.buckets, bucket, {}},
          {"buckets.first", &model->bucket_moments.first, bucket, {}},
          {"buckets.second", &model->bucket_moments.second, bucket, {}},
          {"best.dense", &best->dense, dense, {}},
          {"best.id", &best->id, id, rows},
          {"best.buckets", &best->buckets, bucket, {}}};
}

RankCheckpoints::RankCheckpoints(const JobOptions& job, std::string fingerprint, RankGroup* group,
                                 std::vector<CheckpointTensor> tensors)
    : job_(job), group_(group), tensors_(std::move(tensors)) {
  if (!job.checkpoints.empty()) {
    files_.emplace(job.checkpoints, job.keep_checkpoints, std::move(fingerprint), group);
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
