#include "training/distributed/sharded_checkpoint.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "store/package/package_files.h"
#include "training/shards/examples_index.h"

namespace waymark {
namespace {

// 2: with runs of flat buffers, where copies of the model were on several ranks or moments were shared.
constexpr int kCheckpointFormat = 1, kFormatWithRuns = 2;
constexpr char kBegins[] = "step-", kPartEnds[] = ".part", kManifestFile[] = "manifest.json";

std::string RankFile(int rank) { return absl::StrFormat("rank-%05d.safetensors", rank); }

void SetPlace(const TrainingPlace& place, storage::TrainingCheckpoint::Place* out) {
  out->set_epoch(place.epoch);
  out->set_batch(place.batch);
  out->set_step(place.step);
  out->set_best_epoch(place.best_epoch);
  out->set_best_ndcg10(place.best_ndcg10);
  out->set_best_hit10(place.best_hit10);
  out->set_loss_sum(place.loss_sum);
  out->set_elapsed_s(place.elapsed_s);
  for (double value : place.ndcg10) out->add_ndcg10(value);
  for (double value : place.losses) out->add_losses(value);
}

TrainingPlace ReadPlace(const storage::TrainingCheckpoint::Place& in) {
  TrainingPlace place;
  place.epoch = in.epoch();
  place.batch = in.batch();
  place.step = in.step();
  place.best_epoch = in.best_epoch();
  place.best_ndcg10 = in.best_ndcg10();
  place.best_hit10 = in.best_hit10();
  place.loss_sum = in.loss_sum();
  place.elapsed_s = in.elapsed_s();
  place.ndcg10.assign(in.ndcg10().begin(), in.ndcg10().end());
  place.losses.assign(in.losses().begin(), in.losses().end());
  return place;
}

// "" of all that went well, else what the first that did not says.
std::string FirstProblem(const std::vector<std::string>& said) {
  for (size_t r = 0; r < said.size(); ++r) {
    if (!said[r].empty()) return absl::StrCat("rank ", r, ": ", said[r]);
  }
  return "";
}

}  // namespace

ShardedCheckpoints::ShardedCheckpoints(std::filesystem::path folder, int keep, std::string fingerprint,
                                       RankGroup* group, TrainingPrecision precision)
    : folder_(std::move(folder)),
      keep_(keep),
      fingerprint_(std::move(fingerprint)),
      group_(group),
      precision_(precision) {}

ShardedCheckpoints::~ShardedCheckpoints() {
  if (writing_.valid()) writing_.wait();
}

storage::TrainingCheckpoint::Piece* ShardedCheckpoints::AddPiece(const CheckpointTensor& t) {
  auto* piece = manifest_.add_pieces();
  piece->set_tensor(t.name);
  for (int64_t n : t.shape) piece->add_shape(n);
  piece->set_file(group_->rank());
  return piece;
}

void ShardedCheckpoints::AddRows(const CheckpointTensor& t, TensorMap* own) {
  const RowShare share = t.written.value_or(RowShare{group_->rank(), group_->size()});
  if (t.written && share.rows(t.shape[0]) == 0) return;
  auto* piece = AddPiece(t);
  piece->set_first(share.first);
  piece->set_stride(share.stride);
  piece->set_rows(share.rows(t.shape[0]));
  const bool is_share = t.share.stride == share.stride && t.share.first == share.first;
  (*own)[t.name] = ToTensorData(is_share ? t.tensor->clone() : TakeShare(*t.tensor, share));
}

void ShardedCheckpoints::AddRuns(const CheckpointTensor& t, TensorMap* own) {
  if (t.runs.empty()) {
    if (group_->rank() != 0) return;
    auto* piece = AddPiece(t);
    piece->set_stride(1);
    piece->set_rows(t.shape[0]);
    (*own)[t.name] = ToTensorData(*t.tensor);
    return;
  }
  for (const RunMatrix& matrix : JoinRuns(t.written_runs)) {
    auto* piece = AddPiece(t);
    piece->set_first(matrix.first.whole);
    piece->set_stride(matrix.stride);
    piece->set_rows(matrix.rows);
    (*own)[RunsName(t.name, matrix.first.whole)] = ToTensorData(
        t.tensor->narrow(0, matrix.first.own, matrix.rows * matrix.first.count).view({matrix.rows, -1}));
  }
}

absl::Status ShardedCheckpoints::Begin(const std::vector<CheckpointTensor>& tensors,
                                       const TrainingPlace& place) {
  if (pending_) {
    if (absl::Status published = Publish(); !published.ok()) return published;
  }
  const int rank = group_->rank();
  name_ = absl::StrFormat("%s%012d", kBegins, place.step);
  manifest_.Clear();
  manifest_.set_format(kCheckpointFormat);
  manifest_.set_fingerprint(fingerprint_);
  manifest_.set_ranks(group_->size());
  manifest_.set_precision(PrecisionText(precision_));
  SetPlace(place, manifest_.mutable_place());
  auto own = std::make_shared<TensorMap>();
  for (const CheckpointTensor& t : tensors) {
    if (!t.tensor->defined()) continue;
    if (!t.runs.empty()) manifest_.set_format(kFormatWithRuns);
    t.shape.size() > 1 ? AddRows(t, own.get()) : AddRuns(t, own.get());
  }
  const std::filesystem::path folder = folder_ / (name_ + kPartEnds);
  writing_ = std::async(std::launch::async, [folder, rank, own]() -> absl::Status {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return absl::UnavailableError(absl::StrCat("cannot make ", folder.string(), ": ", error.message()));
    return WriteSafetensors(folder / RankFile(rank), *own);
  });
  pending_ = true;
  return absl::OkStatus();
}

// written: of each rank «bytes sha256 pieces», these a message.
absl::Status ShardedCheckpoints::WriteManifest(const std::vector<std::string>& written) {
  const std::filesystem::path part = folder_ / (name_ + kPartEnds), whole = folder_ / name_;
  manifest_.clear_pieces();
  for (size_t r = 0; r < written.size(); ++r) {
    const std::vector<std::string> words = absl::StrSplit(written[r], absl::MaxSplits(' ', 2));
    storage::TrainingCheckpoint of_rank;
    if (words.size() != 3 || !of_rank.ParseFromString(words[2]))
      return absl::InternalError("a rank did not say what it wrote");
    manifest_.mutable_pieces()->MergeFrom(of_rank.pieces());
    auto* file = manifest_.add_files();
    file->set_name(RankFile(static_cast<int>(r)));
    int64_t bytes = 0;
    if (!absl::SimpleAtoi(words[0], &bytes)) return absl::InternalError("a rank did not say what it wrote");
    file->set_bytes(bytes);
    file->set_sha256(words[1]);
    std::error_code error;
    if (std::filesystem::file_size(part / file->name(), error) != static_cast<uint64_t>(bytes)) {
      return absl::FailedPreconditionError(
          absl::StrCat((part / file->name()).string(), " of rank ", r,
                       " is not seen by rank 0: the checkpoint folder must be one that all ranks share"));
    }
  }
  manifest_.set_create_time(absl::FormatTime(absl::RFC3339_sec, absl::Now(), absl::UTCTimeZone()));
  if (absl::Status status = WriteSummedMessage(part / kManifestFile, manifest_); !status.ok()) return status;
  std::error_code error;
  std::filesystem::remove_all(whole, error);  // of a run that was stopped while it removed it
  std::filesystem::rename(part, whole, error);
  if (error)
    return absl::UnavailableError(absl::StrCat("cannot rename ", part.string(), ": ", error.message()));
  return SyncFolder(folder_);
}

absl::Status ShardedCheckpoints::Publish() {
  if (!pending_) return absl::OkStatus();
  pending_ = false;
  absl::Status own = writing_.get();
  const std::filesystem::path part = folder_ / (name_ + kPartEnds);
  std::string said;
  if (own.ok()) {
    const std::filesystem::path file = part / RankFile(group_->rank());
    auto hash = Sha256HexOfFile(file);
    std::error_code error;
    storage::TrainingCheckpoint pieces;
    *pieces.mutable_pieces() = manifest_.pieces();
    if (hash.ok()) {
      said =
          absl::StrCat(std::filesystem::file_size(file, error), " ", *hash, " ", pieces.SerializeAsString());
    }
    own = hash.status();
  }
  const std::vector<std::string> problems = group_->GatherText(own.ok() ? "" : std::string(own.message()));
  const std::vector<std::string> written = group_->GatherText(said);
  std::string problem = FirstProblem(problems);
  if (group_->rank() == 0) {
    if (problem.empty()) {
      if (absl::Status status = WriteManifest(written); !status.ok()) {
        problem = absl::StrCat("rank 0: ", status.message());
      }
    }
    std::error_code ignored;
    std::filesystem::remove_all(part, ignored);
    if (problem.empty()) DropOld();
  }
  // After the first rank has cleared up: the next checkpoint may have the same name.
  problem = group_->GatherText(problem)[0];
  if (problem.empty()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the checkpoint ", (folder_ / name_).string(), " was not written: ", problem));
}

std::vector<std::string> ShardedCheckpoints::Names() const {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, kBegins) && !absl::EndsWith(name, kPartEnds)) names.push_back(name);
  }
  std::sort(names.rbegin(), names.rend());
  return names;
}

void ShardedCheckpoints::DropOld() {
  const std::vector<std::string> names = Names();
  std::error_code ignored;
  for (size_t i = keep_; i < names.size(); ++i) std::filesystem::remove_all(folder_ / names[i], ignored);
  // What runs that were killed have left half-written.
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    // A later one may be at work already.
    if (absl::StartsWith(name, kBegins) && absl::EndsWith(name, kPartEnds) && name < name_)
      left.push_back(entry.path());
  }
  for (const std::filesystem::path& part : left) std::filesystem::remove_all(part, ignored);
}

void ShardedCheckpoints::RemoveAll() {
  if (group_->rank() != 0) return;
  std::error_code ignored;
  for (const std::string& name : Names()) std::filesystem::remove_all(folder_ / name, ignored);
  std::filesystem::remove(folder_, ignored);  // when nothing else lies in it
}

absl::Status ShardedCheckpoints::CheckFiles(const std::filesystem::path& folder,
                                            const storage::TrainingCheckpoint& manifest) const {
  for (int f = group_->rank(); f < manifest.files_size(); f += group_->size()) {
    const auto& file = manifest.files(f);
    const std::filesystem::path path = folder / file.name();
    if (absl::StrContains(file.name(), "/"))
      return absl::DataLossError("the manifest names a file outside its folder");
    auto hash = Sha256HexOfFile(path);
    if (!hash.ok()) return hash.status();
    if (*hash != file.sha256()) {
      return absl::DataLossError(absl::StrCat(path.string(), " does not have the SHA-256 of the manifest"));
    }
  }
  return absl::OkStatus();
}

absl::Status ShardedCheckpoints::ReadInto(const std::filesystem::path& folder,
                                          const storage::TrainingCheckpoint& manifest,
                                          const std::vector<CheckpointTensor>& tensors) const {
  std::set<std::string> filled;
  for (const CheckpointTensor& t : tensors) {
    if (absl::StartsWith(t.name, "best.")) t.tensor->reset();
  }
  for (int f = 0; f < manifest.files_size(); ++f) {
    auto map = ReadSafetensors(folder / manifest.files(f).name());
    if (!map.ok()) return map.status();
    for (const auto& piece : manifest.pieces()) {
      if (piece.file() != f) continue;
      const auto wanted = std::find_if(tensors.begin(), tensors.end(),
                                       [&](const CheckpointTensor& t) { return t.name == piece.tensor(); });
      if (wanted == tensors.end()) continue;
      const std::vector<int64_t> shape(piece.shape().begin(), piece.shape().end());
      if (shape != wanted->shape)
        return absl::DataLossError(absl::StrCat(piece.tensor(), " has another shape"));
      if (absl::Status taken = TakePiece(*map, piece, *wanted); !taken.ok()) return taken;
      filled.insert(piece.tensor());
    }
  }
  for (const CheckpointTensor& t : tensors) {
    if (t.tensor->defined() && !filled.contains(t.name) && !absl::StartsWith(t.name, "best.")) {
      return absl::DataLossError(absl::StrCat("the checkpoint lacks the tensor ", t.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ShardedCheckpoints::Loaded>> ShardedCheckpoints::LoadNewest(
    const std::vector<CheckpointTensor>& tensors) {
  // What the first rank sees is what counts.
  std::string listed;
  if (group_->rank() == 0) {
    for (const std::string& name : Names()) absl::StrAppend(&listed, name, "\n");
  }
  Loaded loaded;
  const std::string of_first = group_->GatherText(listed)[0];
  const std::vector<std::string> names = absl::StrSplit(of_first, '\n', absl::SkipEmpty());
  for (const std::string& name : names) {
    const std::filesystem::path folder = folder_ / name;
    storage::TrainingCheckpoint manifest;
    absl::Status status = ReadSummedMessage(folder / kManifestFile, &manifest);
    if (status.ok() && manifest.format() != kCheckpointFormat && manifest.format() != kFormatWithRuns) {
      status = absl::DataLossError(absl::StrCat("it has format ", manifest.format(), ", and not ",
                                                kCheckpointFormat, " or ", kFormatWithRuns));
    }
    if (status.ok()) status = CheckFiles(folder, manifest);
    std::string problem = FirstProblem(group_->GatherText(status.ok() ? "" : std::string(status.message())));
    if (problem.empty() && manifest.fingerprint() != fingerprint_) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the checkpoint ", folder.string(), " belongs to a run with other shards or options, or is from ",
          "before users of these shards were erased, and has learned from them; give ",
          "those, name another --checkpoints folder, or remove this one"));
    }
    if (problem.empty()) {
      status = ReadInto(folder, manifest, tensors);
      problem = FirstProblem(group_->GatherText(status.ok() ? "" : std::string(status.message())));
    }
    if (!problem.empty()) {
      loaded.refused.push_back(absl::StrCat(folder.string(), ": ", problem));
      continue;
    }
    loaded.place = ReadPlace(manifest.place());
    loaded.folder = folder.string();
    loaded.ranks = manifest.ranks();
    loaded.precision =
        manifest.precision().empty() ? PrecisionText(TrainingPrecision::kFp32) : manifest.precision();
    return std::optional<Loaded>(std::move(loaded));
  }
  if (!loaded.refused.empty()) {
    return absl::DataLossError(absl::StrCat("no checkpoint is whole (", loaded.refused.front(),
                                            "); remove them to train from the start"));
  }
  return std::optional<Loaded>();
}

}  // namespace waymark
