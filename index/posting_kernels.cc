#include "index/posting_kernels.h"

#include <algorithm>

namespace waymark {

#if defined(__AVX512F__) && defined(__AVX512BW__)

void GapsToDocuments(uint32_t* gaps, size_t count, DocNumber before) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i steps = _mm512_set_epi32(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
  const __m512i last = _mm512_set1_epi32(15);
  __m512i carry = _mm512_set1_epi32(static_cast<int>(before));
  for (size_t i = 0; i < count; i += 16) {
    __m512i x = _mm512_loadu_si512(gaps + i);
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 15));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 14));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 12));
    x = _mm512_add_epi32(x, _mm512_alignr_epi32(x, zero, 8));
    x = _mm512_add_epi32(_mm512_add_epi32(x, steps), carry);
    carry = _mm512_permutexvar_epi32(last, x);
    _mm512_storeu_si512(gaps + i, x);
  }
  _mm512_storeu_si512(gaps + count, _mm512_set1_epi32(-1));
}

void ScoreBlock(const Bm25Term& term, const float* frequencies, const DocNumber* docs, size_t count,
                const float* lengths, FixedScore* scores) {
  const __m512 weight = _mm512_set1_ps(term.weight), constant = _mm512_set1_ps(term.lengths.constant);
  const __m512 slope = _mm512_set1_ps(term.lengths.slope), tiny = _mm512_set1_ps(kLeastDenominator);
  const __m512i one = _mm512_set1_epi32(1);
  for (size_t i = 0; i < count; i += 16) {
    const __mmask16 valid = static_cast<__mmask16>(count - i >= 16 ? 0xFFFF : (1u << (count - i)) - 1);
    const __m512 length =
        _mm512_mask_i32gather_ps(_mm512_setzero_ps(), valid, _mm512_loadu_si512(docs + i), lengths, 4);
    const __m512 tf = _mm512_loadu_ps(frequencies + i);
    const __m512 norm = _mm512_fmadd_ps(slope, length, constant);
    const __m512 score =
        _mm512_div_ps(_mm512_mul_ps(weight, tf), _mm512_max_ps(_mm512_add_ps(tf, norm), tiny));
    _mm512_storeu_si512(scores + i, _mm512_max_epi32(_mm512_cvtps_epi32(score), one));
  }
}

size_t KeepAtLeast(FixedScore least, const DocNumber* docs, const FixedScore* scores, size_t count,
                   DocNumber* out_docs, FixedScore* out_scores) {
  const __m512i needed = _mm512_set1_epi32(least);
  size_t kept = 0;
  for (size_t i = 0; i < count; i += 16) {
    const __mmask16 valid = static_cast<__mmask16>(count - i >= 16 ? 0xFFFF : (1u << (count - i)) - 1);
    const __m512i score = _mm512_loadu_si512(scores + i);
    const __mmask16 keep = _mm512_mask_cmpge_epi32_mask(valid, score, needed);
    if (keep == 0) continue;
    _mm512_storeu_si512(out_docs + kept, _mm512_maskz_compress_epi32(keep, _mm512_loadu_si512(docs + i)));
    _mm512_storeu_si512(out_scores + kept, _mm512_maskz_compress_epi32(keep, score));
    kept += std::popcount(static_cast<unsigned>(keep));
  }
  return kept;
}

size_t TakeAtLeast(FixedScore least, DocNumber first, size_t documents, FixedScore* scores, uint8_t* touched,
                   DocNumber* out_docs, FixedScore* out_scores) {
  const __m512i needed = _mm512_set1_epi32(least), zero = _mm512_setzero_si512();
  const __m512i steps = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  size_t kept = 0;
  for (size_t block = 0; block * 1024 < documents; ++block) {
    const __m512i marks = _mm512_loadu_si512(touched + block * 64);
    _mm512_storeu_si512(touched + block * 64, zero);
    uint64_t groups = _mm512_test_epi8_mask(marks, marks);
    for (; groups != 0; groups &= groups - 1) {
      const size_t i = block * 1024 + static_cast<size_t>(std::countr_zero(groups)) * 16;
      const __m512i score = _mm512_loadu_si512(scores + i);
      _mm512_storeu_si512(scores + i, zero);
      const __mmask16 keep = _mm512_cmpge_epi32_mask(score, needed);
      if (keep == 0) continue;
      const __m512i docs = _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(first + i)), steps);
      _mm512_storeu_si512(out_docs + kept, _mm512_maskz_compress_epi32(keep, docs));
      _mm512_storeu_si512(out_scores + kept, _mm512_maskz_compress_epi32(keep, score));
      kept += std::popcount(static_cast<unsigned>(keep));
    }
  }
  return kept;
}

size_t FindBound(const uint16_t* bounds, size_t from, size_t count, uint16_t least) {
  const __m512i wanted = _mm512_set1_epi16(static_cast<int16_t>(least));
  for (; from < count; from += 32) {
    const size_t left = count - from;
    const __mmask32 valid = left >= 32 ? ~__mmask32{0} : (__mmask32{1} << left) - 1;
    const __mmask32 reached =
        _mm512_mask_cmpge_epu16_mask(valid, _mm512_maskz_loadu_epi16(valid, bounds + from), wanted);
    if (reached != 0) return from + std::countr_zero(reached);
  }
  return count;
}

#else

size_t FindBound(const uint16_t* bounds, size_t from, size_t count, uint16_t least) {
  while (from < count && bounds[from] < least) ++from;
  return from;
}

void GapsToDocuments(uint32_t* gaps, size_t count, DocNumber before) {
  for (size_t i = 0; i < count; ++i) gaps[i] = before += gaps[i] + 1;
  std::fill_n(gaps + count, kBlockPadding, kNoDoc);
}

void ScoreBlock(const Bm25Term& term, const float* frequencies, const DocNumber* docs, size_t count,
                const float* lengths, FixedScore* scores) {
  for (size_t i = 0; i < count; ++i) scores[i] = term.Score(frequencies[i], lengths[docs[i]]);
}

size_t KeepAtLeast(FixedScore least, const DocNumber* docs, const FixedScore* scores, size_t count,
                   DocNumber* out_docs, FixedScore* out_scores) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    out_docs[kept] = docs[i];
    out_scores[kept] = scores[i];
    kept += scores[i] >= least;
  }
  return kept;
}

size_t TakeAtLeast(FixedScore least, DocNumber first, size_t documents, FixedScore* scores, uint8_t* touched,
                   DocNumber* out_docs, FixedScore* out_scores) {
  size_t kept = 0;
  for (size_t group = 0; group * 16 < documents; ++group) {
    if (touched[group] == 0) continue;
    touched[group] = 0;
    for (size_t i = group * 16; i < group * 16 + 16; ++i) {
      out_docs[kept] = first + static_cast<DocNumber>(i);
      out_scores[kept] = scores[i];
      kept += scores[i] >= least;
      scores[i] = 0;
    }
  }
  return kept;
}

#endif

uint16_t GreatestBound(const uint16_t* bounds, size_t count) {
  uint16_t greatest = 0;
  for (size_t i = 0; i < count; ++i) greatest = std::max(greatest, bounds[i]);
  return greatest;
}

}  // namespace waymark
