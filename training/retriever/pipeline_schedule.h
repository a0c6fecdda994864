// In which order a stage of a pipeline passes the parts of a batch: one forward, one backward in turn (1F1B,
// PipeDream-Flush, arXiv 2006.09503), so that a stage holds the activations of no more parts than stages
// follow it, and its own.
//
//   for (const PartPass& pass : OneForwardOneBackward(stage, stages, parts)) ...
#pragma once
#include <cstddef>
#include <vector>

namespace waymark {

struct PartPass {
  size_t part;
  bool backward;
};

// How many parts are between forward and backward at once.
size_t PartsInFlight(int stage, int stages, size_t parts);
std::vector<PartPass> OneForwardOneBackward(int stage, int stages, size_t parts);

}  // namespace waymark
