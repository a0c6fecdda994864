// Softmax cross-entropy over cosines: logit(state, item) = <unit state, unit item> / temperature, of a
// token's target against a set of items shared by all tokens (all of the catalogue, or a sample). A target
// that is itself in the set counts once.
//
// Cosines bound the logits by 1 / temperature, so that exp needs no maximum to be taken off. Works in chunks
// of rows that stay in the cache. Includes LibTorch: for training/ only.
#pragma once
#include <torch/torch.h>

#include <vector>

#include "absl/types/span.h"

namespace waymark {

struct SoftmaxInput {
  at::Tensor states;                  // [T, width], any length
  at::Tensor units;                   // [U, width], unit length: items of this step
  int64_t contrasted = 0;             // the first so many of them are contrasted with
  absl::Span<const int32_t> targets;  // [T]: rows of units
  double temperature = 0.1;
  double scale = 1;  // of loss and gradients: 1 / tokens of the whole batch
};

struct SoftmaxScratch {
  at::Tensor unit_states, scaled, logits, dscaled;
  std::vector<float> inverse;
};

// Returns the sum of the tokens' losses times scale. dstates: [T, width] is overwritten; dunits: [U, width]
// is added to.
double CosineSoftmax(const SoftmaxInput& input, SoftmaxScratch* scratch, at::Tensor* dstates,
                     at::Tensor* dunits);

}  // namespace waymark
