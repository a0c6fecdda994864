// Holm's correction: keeps the chance of any false finding under alpha. For what decides.
#pragma once
#include <vector>

#include "absl/types/span.h"

namespace waymark::statistics {

// Adjusted p-values in the order given: in ascending order, max over j <= i of min(1, (m - j + 1) p_j).
// (Holm: A simple sequentially rejective multiple test procedure, 1979.)
std::vector<double> HolmAdjusted(absl::Span<const double> p_values);

}  // namespace waymark::statistics
