// The correction of Benjamini and Hochberg: keeps the share of false ones among the findings under alpha. For
// what is looked through: secondary metrics, segments.
#pragma once
#include <vector>

#include "absl/types/span.h"

namespace waymark::statistics {

// Adjusted p-values in the order given: in ascending order, min over j >= i of min(1, m p_j / j).
// (Benjamini, Hochberg: Controlling the false discovery rate, JRSS B 57, 1995.)
std::vector<double> BenjaminiHochbergAdjusted(absl::Span<const double> p_values);

}  // namespace waymark::statistics
