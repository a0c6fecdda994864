// nDCG of one ranked list.
//
//   ListNdcg({.9, .1, .5}, {0, 1, 0}, 10);   // the wanted item comes third: 1 / log2(4) = .5
//
// DCG@k = sum over ranks r <= k of gain / log2(1 + r), divided by that of the best order (Jarvelin,
// Kekalainen 2002). Equal scores are every order at once: each item of a tie takes the mean discount of the
// tie's ranks (McSherry, Najork 2008), so that the order of the input never counts.
#pragma once
#include <cstddef>

#include "absl/types/span.h"

namespace waymark {

// scores, gains: [items]; gains are not negative. 0 for a list without a gain.
double ListNdcg(absl::Span<const float> scores, absl::Span<const float> gains, size_t k);

}  // namespace waymark
