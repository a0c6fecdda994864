// What a rank has of the tensors of a checkpoint, and how the pieces of its files get there: rows of tables,
// and runs of flat buffers.
//
// Includes LibTorch: for training/ only.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "store/package/safetensors.h"
#include "training/distributed/mesh/flat_runs.h"
#include "waymark/storage/training.pb.h"

namespace waymark {

// A tensor as a rank has it: of a table all of its rows, or a share of them; of a flat buffer all of it, or
// some runs. `tensor` is undefined where there is none yet.
struct CheckpointTensor {
  std::string name;
  at::Tensor* tensor;
  std::vector<int64_t> shape;  // of the whole; a flat buffer has one dimension
  RowShare share;              // of a table
  // Where copies of the model are on several ranks: the rows of a table that this rank writes (else row r, r
  // + ranks, ...), and how a flat buffer lies in the whole and what of that it writes (else the first rank
  // all).
  std::optional<RowShare> written;
  std::vector<FlatRun> runs, written_runs;
  int64_t own_floats = 0;  // of a flat buffer with runs
};

// The name of some runs of a flat buffer in a rank's file.
std::string RunsName(const std::string& tensor, int64_t first);
// Rows first, first + stride, ... of a tensor that holds all of them.
at::Tensor TakeShare(const at::Tensor& whole, RowShare share);
// Copies what `wanted` has of a piece, which is in the file `map` and of the same whole shape. An undefined
// tensor is made first, of zeros.
absl::Status TakePiece(const TensorMap& map, const storage::TrainingCheckpoint::Piece& piece,
                       const CheckpointTensor& wanted);

}  // namespace waymark
