// What a process holds of an encoder that is spread over several: some of its blocks (a stage of a pipeline),
// or of every block some heads and hidden units (tensor parallelism, Megatron-LM, arXiv 1909.08053).
//
//   EncoderSlice half;
//   half.part = 1, half.parts = 2;
//   for (const PlacedTensor& t : TensorsOfSlice(shape, half)) ...  // what it holds, and of what
//
// Of a block that is spread over parts, the matrices that lead in (query, key, value, gate; SwiGLU's two,
// gate) are cut by rows, those that lead out by columns, the attention's biases by heads; norms and the bias
// of what leads out are on every part. Serving has the whole.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recommend/network/retriever_shape.h"

namespace waymark {

struct EncoderSlice {
  int first_block = 0, last_block = -1;  // [first, last); -1: all of them
  int part = 0, parts = 1;               // of every block
  bool items = true;                     // what turns items into vectors
  bool final_norm = true;

  int blocks(const RetrieverShape& shape) const {
    return (last_block < 0 ? shape.blocks : last_block) - first_block;
  }
};

// INVALID_ARGUMENT: heads, hidden units or width do not divide by `parts`, or there are fewer blocks than
// `stages`.
absl::Status CheckDivides(const RetrieverShape& shape, int parts, int stages);
// Stage s of `stages`: as many blocks as the others, or one more; items on the first, the last norm on the
// last.
EncoderSlice StageSlice(const RetrieverShape& shape, int stage, int stages);

// A tensor of a slice: rows of the whole, one range behind the other, and of each row some columns.
struct PlacedTensor {
  struct Rows {
    int64_t first, count;
  };
  size_t number = 0;  // among RetrieverShape::DenseTensors()
  NamedShape whole;
  std::vector<Rows> rows;
  int64_t first_column = 0, columns = 1;  // of a tensor of one dimension: one
  bool copied = true;                     // every part holds all of it

  NamedShape own() const;
  int64_t whole_columns() const { return whole.shape.size() > 1 ? whole.shape[1] : 1; }
};

// In the order of DenseTensors().
std::vector<PlacedTensor> TensorsOfSlice(const RetrieverShape& shape, const EncoderSlice& slice);

}  // namespace waymark
