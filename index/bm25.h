// BM25 (Robertson et al., "Okapi at TREC-3", 1994) in the form of Lucene since version 8, without the
// constant factor k1 + 1, over several fields as one (the simple form of BM25F, Robertson et al., CIKM 2004):
//
//   score(document, query) = sum over the query's words t of  times(t) * idf(t) * tf / (tf + k1 * (1 - b + b
//   * l / L)) idf(t) = ln(1 + (N - n + .5) / (n + .5))
//
// tf: sum over fields of weight * term frequency; l: sum over fields of weight * number of terms; L: its mean
// over documents; N: documents; n: those that hold t. With all weights 1 it is BM25 over the fields put
// together.
#pragma once
#include <cmath>
#include <cstdint>

#include "index/keyword_index.h"

namespace waymark {

inline double Bm25Idf(int64_t documents, int64_t documents_with_term) {
  const double N = static_cast<double>(documents), n = static_cast<double>(documents_with_term);
  return std::log1p((N - n + 0.5) / (n + 0.5));
}

// The part of the denominator that a document's length gives: k1 * (1 - b) + k1 * b / L * l.
struct Bm25Lengths {
  float constant = 0, slope = 0;
  Bm25Lengths(const Bm25Options& options, double average_length)
      : constant(static_cast<float>(options.k1 * (1 - options.b))),
        slope(average_length > 0 ? static_cast<float>(options.k1 * options.b / average_length) : 0) {}
};

// `idf` may carry the number of times that the query has the word.
inline float Bm25Score(float idf, float tf, float length, const Bm25Lengths& lengths) {
  return idf * tf / (tf + lengths.constant + lengths.slope * length);
}

}  // namespace waymark
