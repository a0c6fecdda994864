// What a step of the ranker's training asks of the other ranks of a distributed run. Without one the step is
// that of a single process. Every rank works on parts of the same batch, and parts are divided by the lists
// of the whole, so that gradients add up however unevenly the lists lie.
//
// Includes LibTorch: for training/ only.
#pragma once
#include <torch/torch.h>

#include <array>
#include <vector>

#include "training/ranker/row_table.h"

namespace waymark {

// What parts of a batch come to, apart from each other.
struct RankerGradients {
  std::vector<uint64_t> parts;
  std::vector<double> losses;  // [parts]
  torch::Tensor dense;         // [parts, floats of all parameters]; zero where a part has no gradient
  torch::Tensor touched;       // [parts, parameters]: 1 where it has one
  // Of the item, content and query tables, for each of the parts: the rows that it touched, by their number
  // in the whole table.
  std::array<std::vector<RowTable::Part>, 3> tables;
};

class RankerRanks {
 public:
  virtual ~RankerRanks() = default;
  // In: what this rank's parts come to. Out: all parts of the batch, in ascending order. They are not added
  // up on the way: their sum is then that of one process, bit for bit, on any number of ranks. Sums in
  // another order differ in their rounding, and Adam makes a whole step of a gradient that is nothing else.
  // Where tables are spread over ranks, of these only what lies on this rank, by the number there.
  virtual void Gather(RankerGradients* gradients) = 0;
  // Where they are: rows [n, width] of table t, in the order of `rows` ([n] int64, distinct). Called on all
  // ranks, each with what it wants. own: [own rows, width], what this rank has of it.
  virtual torch::Tensor Fetch(size_t t, const torch::Tensor& own, const torch::Tensor& rows) = 0;
};

}  // namespace waymark
