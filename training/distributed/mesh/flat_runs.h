// How a process's flat weights lie in those of the whole encoder (DenseWeights): as runs of numbers that
// follow one another in both. Checkpoints name numbers by their place in the whole, so that any mesh reads
// what another wrote.
//
//   std::vector<FlatRun> runs = ClipRuns(RunsOfSlice(shape, slice), {first, count});   // of a share
#pragma once
#include <vector>

#include "training/retriever/retriever_model.h"

namespace waymark {

struct FlatRun {
  int64_t whole = 0, own = 0, count = 0;
};

// Floats of the whole, as DenseWeights pads them.
int64_t WholeFloats(const RetrieverShape& shape);
// In the order of `own`. copied: also those tensors that other parts of the blocks have alike.
std::vector<FlatRun> RunsOfSlice(const RetrieverShape& shape, const EncoderSlice& slice, bool copied);
// What lies in `share` of the own floats, counted from its first.
std::vector<FlatRun> ClipRuns(const std::vector<FlatRun>& runs, FlatSlice share);

// Runs of one length at one distance, one behind the other in `own`: a matrix of rows.
struct RunMatrix {
  FlatRun first;
  int64_t rows = 1, stride = 1;
};
std::vector<RunMatrix> JoinRuns(const std::vector<FlatRun>& runs);

}  // namespace waymark
