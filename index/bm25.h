// BM25 (Robertson et al., "Okapi at TREC-3", 1994) in the form of Lucene since version 8, without the
// constant factor k1 + 1, over several fields as one (the simple form of BM25F, Robertson et al., CIKM 2004):
//
//   score(document, query) = sum over the query's words t of  times(t) * idf(t) * tf / (tf + k1 * (1 - b + b
//   * l / L)) idf(t) = ln(1 + (N - n + .5) / (n + .5))
//
// tf: sum over fields of weight * term frequency; l: sum over fields of weight * number of terms; L: its mean
// over documents; N: documents; n: those that hold t. With all weights 1 it is BM25 over the fields put
// together.
//
// Scores are summed in whole numbers, so that their order changes nothing: a query's scores are multiples of
// a unit, the power of two of which 2^24 are at least the most that any document can reach. So each is a
// float to the bit. Every word that counts scores at least one unit.
#pragma once
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "index/keyword_index.h"

namespace waymark {

using FixedScore = int32_t;
inline constexpr FixedScore kGreatestScore = 1 << 24;  // about: words add a unit or two of rounding each

inline double Bm25Idf(int64_t documents, int64_t documents_with_term) {
  const double N = static_cast<double>(documents), n = static_cast<double>(documents_with_term);
  return std::log1p((N - n + 0.5) / (n + 0.5));
}

// The part of the denominator that a document's length gives: k1 * (1 - b) + k1 * b / L * l.
struct Bm25Lengths {
  float constant = 0, slope = 0;
  Bm25Lengths() = default;
  Bm25Lengths(const Bm25Options& options, double average_length)
      : constant(static_cast<float>(options.k1 * (1 - options.b))),
        slope(average_length > 0 ? static_cast<float>(options.k1 * options.b / average_length) : 0) {}
  float Norm(float length) const {
#if defined(__FMA__)
    return std::fma(slope, length, constant);  // by name, so that it is the same wherever it is compiled
#else
    return constant + slope * length;
#endif
  }
};

// Keeps 0 / 0 away, where a field of weight 0 holds the term and k1 is 0.
inline constexpr float kLeastDenominator = 1e-30f;

// A word or phrase of a query.
struct Bm25Term {
  float weight = 0;  // times * idf, in units of the query's scores
  Bm25Lengths lengths;

  FixedScore Score(float tf, float length) const {
    const float score = weight * tf / std::max(tf + lengths.Norm(length), kLeastDenominator);
#if defined(__SSE__)
    return std::max(_mm_cvtss_si32(_mm_set_ss(score)), 1);  // lrintf, which is a call
#else
    return std::max(static_cast<FixedScore>(std::lrintf(score)), 1);
#endif
  }
};

}  // namespace waymark
