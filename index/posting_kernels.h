// The inner loops over blocks of postings, for vectors of 16 numbers where the processor has them (AVX-512),
// else as plain loops with the same results to the bit.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "index/bm25.h"
#include "index/compiled_segment.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace waymark {

// Every buffer of a block has room for this many more than kPostingsPerBlock.
inline constexpr size_t kBlockPadding = 16;

// gaps[i] becomes before + 1 + the sum of gaps[0..i] + i. What stands behind `count` becomes kNoDoc.
void GapsToDocuments(uint32_t* gaps, size_t count, DocNumber before);

// The first of docs[from..] that is at least `doc`; docs end with kNoDoc.
inline size_t FindDocument(const DocNumber* docs, size_t from, DocNumber doc) {
#if defined(__AVX512F__)
  const __m512i wanted = _mm512_set1_epi32(static_cast<int>(doc));
  for (;; from += 16) {
    const __mmask16 reached = _mm512_cmpge_epu32_mask(_mm512_loadu_si512(docs + from), wanted);
    if (reached != 0) return from + std::countr_zero(static_cast<unsigned>(reached));
  }
#else
  while (docs[from] < doc) ++from;
  return from;
#endif
}

// The first of scores[from..count) that is at least `least`; `count`: none. kBlockPadding more can be read.
inline size_t FindScore(const FixedScore* scores, size_t from, size_t count, FixedScore least) {
#if defined(__AVX512F__)
  const __m512i wanted = _mm512_set1_epi32(least);
  for (; from < count; from += 16) {
    const __mmask16 reached = _mm512_cmpge_epi32_mask(_mm512_loadu_si512(scores + from), wanted);
    if (reached != 0) return std::min(count, from + std::countr_zero(static_cast<unsigned>(reached)));
  }
  return count;
#else
  while (from < count && scores[from] < least) ++from;
  return from;
#endif
}

// The first of bounds[from..count) that is at least `least`; `count`: none.
size_t FindBound(const uint16_t* bounds, size_t from, size_t count, uint16_t least);

// scores[i]: the fixed-point score of frequency[i] in docs[i].  lengths: [documents of the segment]
void ScoreBlock(const Bm25Term& term, const float* frequencies, const DocNumber* docs, size_t count,
                const float* lengths, FixedScore* scores);

// Appends what scores at least `least` to out_docs and out_scores, which have room for count + kBlockPadding;
// answers how many.
size_t KeepAtLeast(FixedScore least, const DocNumber* docs, const FixedScore* scores, size_t count,
                   DocNumber* out_docs, FixedScore* out_scores);

// The same for documents in a row, from `first`, with their scores; those of 16 documents are read where
// `touched` holds a 1 for them. All become zero, up to a multiple of 1,024 of them.  least: above 0
size_t TakeAtLeast(FixedScore least, DocNumber first, size_t documents, FixedScore* scores, uint8_t* touched,
                   DocNumber* out_docs, FixedScore* out_scores);

// The greatest of bounds[0..count); count: above 0.
uint16_t GreatestBound(const uint16_t* bounds, size_t count);

}  // namespace waymark
