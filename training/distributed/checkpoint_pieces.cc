#include "training/distributed/checkpoint_pieces.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "recommend/network/retriever_weights.h"

namespace waymark {
namespace {

// Copies the rows of a piece that `wanted` has.
absl::Status TakeRows(const TensorMap& map, const storage::TrainingCheckpoint::Piece& piece,
                      const CheckpointTensor& wanted) {
  std::vector<int64_t> piece_shape = wanted.shape, own_shape = wanted.shape;
  piece_shape[0] = piece.rows();
  auto rows = FromTensorMap(map, {piece.tensor(), piece_shape});
  if (!rows.ok()) return rows.status();
  own_shape[0] = wanted.share.rows(wanted.shape[0]);
  if (!wanted.tensor->defined()) *wanted.tensor = at::zeros(own_shape, at::kFloat);
  const int64_t columns = rows->numel() / std::max<int64_t>(piece.rows(), 1);
  for (int64_t k = 0; k < piece.rows(); ++k) {
    const int64_t row = piece.first() + k * piece.stride();
    if (wanted.tensor->numel() == 0) break;  // of a rank without tables
    if (row % wanted.share.stride != wanted.share.first % wanted.share.stride) continue;
    std::copy_n(rows->data_ptr<float>() + k * columns, columns,
                wanted.tensor->data_ptr<float>() + row / wanted.share.stride * columns);
  }
  return absl::OkStatus();
}

// The same of a flat buffer: rows of runs, or all of it.
absl::Status TakeRuns(const TensorMap& map, const storage::TrainingCheckpoint::Piece& piece,
                      const CheckpointTensor& wanted) {
  if (wanted.tensor->defined() && wanted.tensor->numel() == 0) return absl::OkStatus();
  const auto named = map.find(RunsName(piece.tensor(), piece.first()));
  const std::string name = named != map.end() ? named->first : piece.tensor();
  const auto data = map.find(name);
  if (data == map.end()) return absl::DataLossError(absl::StrCat("a file lacks ", name));
  auto rows = FromTensorMap(map, {name, data->second.shape});
  if (!rows.ok()) return rows.status();
  const bool all = named == map.end();
  const int64_t count = all ? 1 : piece.rows(), width = rows->numel() / std::max<int64_t>(count, 1);
  const std::vector<FlatRun> own =
      wanted.runs.empty() ? std::vector<FlatRun>{{0, 0, wanted.shape[0]}} : wanted.runs;
  if (!wanted.tensor->defined()) {
    *wanted.tensor = at::zeros({wanted.runs.empty() ? wanted.shape[0] : wanted.own_floats}, at::kFloat);
  }
  for (int64_t k = 0; k < count; ++k) {
    const int64_t first = piece.first() + k * piece.stride(), last = first + width;
    // The runs are in the order of the whole, too, where they do not overlap: tensors of a slice are.
    auto run = std::lower_bound(own.begin(), own.end(), first,
                                [](const FlatRun& r, int64_t place) { return r.whole + r.count <= place; });
    for (; run != own.end() && run->whole < last; ++run) {
      const int64_t from = std::max(first, run->whole), to = std::min(last, run->whole + run->count);
      std::copy_n(rows->data_ptr<float>() + k * width + from - first, to - from,
                  wanted.tensor->data_ptr<float>() + run->own + from - run->whole);
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string RunsName(const std::string& tensor, int64_t first) { return absl::StrCat(tensor, "@", first); }

at::Tensor TakeShare(const at::Tensor& whole, RowShare share) {
  const int64_t rows = share.rows(whole.size(0));
  if (rows == 0) return whole.narrow(0, 0, 0).clone();
  return whole.slice(0, share.first, whole.size(0), share.stride).clone();
}

absl::Status TakePiece(const TensorMap& map, const storage::TrainingCheckpoint::Piece& piece,
                       const CheckpointTensor& wanted) {
  return wanted.shape.size() > 1 ? TakeRows(map, piece, wanted) : TakeRuns(map, piece, wanted);
}

}  // namespace waymark
