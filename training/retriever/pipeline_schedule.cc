#include "training/retriever/pipeline_schedule.h"

#include <algorithm>

namespace waymark {

size_t PartsInFlight(int stage, int stages, size_t parts) {
  return std::min(parts, static_cast<size_t>(stages - stage));
}

std::vector<PartPass> OneForwardOneBackward(int stage, int stages, size_t parts) {
  std::vector<PartPass> passes;
  const size_t ahead = std::min(parts, static_cast<size_t>(stages - stage - 1));
  for (size_t part = 0; part < ahead; ++part) passes.push_back({part, false});
  for (size_t part = 0; part < parts; ++part) {
    if (ahead + part < parts) passes.push_back({ahead + part, false});
    passes.push_back({part, true});
  }
  return passes;
}

}  // namespace waymark
