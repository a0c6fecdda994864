// Which parameters are where, as a table: a line a tensor (blocks that lie alike are one line), how it lies
// on the ranks of a copy of the model, and below how many numbers each rank holds.
//
//   parameter                       shape    numbers  where
//   blocks.0-3.attention.input.weight  256x64  16,384  rows, over 2 ranks
#pragma once
#include <string>

#include "training/distributed/mesh/mesh_shape.h"

namespace waymark {

struct PlacementInput {
  MeshShape mesh;
  RetrieverShape shape;
  int64_t id_rows = 0;  // of the item table
  bool share_rows = false, shard_optimizer = false;
};

// Numbers that a rank of this slice holds.
struct HeldNumbers {
  int64_t encoder = 0, tables = 0, moments = 0;
};
HeldNumbers HeldBySlice(const PlacementInput& input, int slice);

// Lines, without one at the end.
std::string PlacementTable(const PlacementInput& input);

}  // namespace waymark
