#include "index/scored_list.h"

#include <algorithm>
#include <utility>

namespace waymark {

void ScoreWindow::Take(FixedScore least, Candidates* candidates) {
  candidates->Reserve(end - begin);
  candidates->count +=
      TakeAtLeast(least, begin, end - begin, sums.data(), touched.data(),
                  candidates->docs.data() + candidates->count, candidates->scores.data() + candidates->count);
}

ScoredList::ScoredList(const SegmentView& segment, TermIndex term, const Bm25Term& scorer,
                       double average_length, absl::Span<const float> weights)
    : segment_(segment),
      weights_(weights.empty() ? absl::MakeConstSpan(segment.weights) : weights),
      some_fields_(!weights.empty()),
      reader_(*segment.postings, term),
      scorer_(scorer) {
  // Bounds of all fields hold for some: a score grows with the frequency.
  bounds_ = segment.bounds->of_block(reader_.first_block());
  // The small addition is for rounding.
  bound_unit_ = static_cast<float>(scorer.weight * 1.00001 / ImpactBounds::kUnit *
                                   ImpactBounds::Factor(segment.bounds->average_length(), average_length));
  bound_ = reader_.block_count() == 0 ? 0 : Bound(GreatestBound(bounds_, reader_.block_count()));
}

size_t ScoredList::TakeWork() { return std::exchange(work_, 0); }

const DocNumber* ScoredList::Load(size_t block) {
  if (loaded_ != block) {
    reader_.ReadDocuments(block);
    loaded_ = block;
    index_ = 0;
    scored_ = false;
    work_ += kPostingsPerBlock / 2;
  }
  return reader_.ReadDocuments(block).data();
}

void ScoredList::ScoreLoaded() {
  if (scored_) return;
  const auto docs = reader_.ReadFrequencies(loaded_, weights_);
  ScoreBlock(scorer_, reader_.frequencies(), docs.data(), docs.size(), segment_.lengths->data(),
             scores_.data());
  // What is held where it does not count is not held.
  for (size_t i = 0; some_fields_ && i < docs.size(); ++i) {
    if (reader_.frequencies()[i] == 0) scores_[i] = 0;
  }
  scored_ = true;
  work_ += kPostingsPerBlock / 2;
}

DocNumber ScoredList::NextAtLeast(DocNumber doc) {
  block_ = reader_.FindBlock(block_, doc);
  if (!HasBlock()) return kNoDoc;
  const DocNumber* docs = Load(block_);
  index_ = FindDocument(docs, index_, doc);
  return docs[index_];
}

FixedScore ScoredList::EnterWindow(DocNumber begin, DocNumber end) {
  block_ = reader_.FindBlock(block_, begin);
  if (!HasBlock()) return 0;
  const size_t last = std::min(reader_.FindBlock(block_, end - 1), reader_.block_count() - 1);
  return Bound(GreatestBound(bounds_ + block_, last - block_ + 1));
}

template <class Take>
inline void ScoredList::ForEachIn(const ScoreWindow& window, Take take) {
  for (block_ = reader_.FindBlock(block_, window.begin); HasBlock(); ++block_) {
    const DocNumber* docs = Load(block_);
    ScoreLoaded();
    size_t i = FindDocument(docs, index_, window.begin);
    const bool whole = reader_.last_doc(block_) < window.end;
    const size_t end = whole ? reader_.size_of(block_) : FindDocument(docs, i, window.end);
    for (; i < end; ++i) take(docs[i] - window.begin, scores_[i]);
    index_ = end;
    if (!whole) return;
  }
}

void ScoredList::Accumulate(ScoreWindow* window) {
  FixedScore* const sums = window->sums.data();
  uint8_t* const touched = window->touched.data();
  ForEachIn(*window, [sums, touched](DocNumber at, FixedScore score) {
    sums[at] += score;
    touched[at / 16] = 1;
  });
}

void ScoredList::AccumulateMost(ScoreWindow* window) {
  FixedScore* const sums = window->sums.data();
  uint8_t* const touched = window->touched.data();
  ForEachIn(*window, [sums, touched](DocNumber at, FixedScore score) {
    sums[at] = std::max(sums[at], score);
    touched[at / 16] = 1;
  });
}

std::vector<size_t> ScoredList::BestBlocks(size_t count) const {
  std::vector<size_t> best;
  const auto less = [this](size_t a, size_t b) { return bounds_[a] < bounds_[b]; };
  const size_t blocks = reader_.block_count();
  for (size_t block = 0; block < blocks && best.size() < count; ++block) best.push_back(block);
  if (blocks <= count) return best;
  for (size_t block = count;; ++block) {
    const auto worst = std::min_element(best.begin(), best.end(), less);
    if (bounds_[*worst] == UINT16_MAX) return best;
    block = FindBound(bounds_, block, blocks, bounds_[*worst] + 1);
    if (block == blocks) return best;
    best.erase(worst);
    best.push_back(block);
  }
}

size_t ScoredList::NextBlock(size_t from, FixedScore needed) const {
  if (Bound(0) >= needed) return from;
  // The least bound that comes to `needed`: worked out, then put right for what was rounded.
  const float wanted = static_cast<float>(needed) / bound_unit_;
  if (wanted > 2 * ImpactBounds::kUnit) return reader_.block_count();
  auto least = static_cast<int32_t>(std::clamp(wanted, 0.0f, ImpactBounds::kUnit));
  while (least > 0 && Bound(static_cast<uint16_t>(least - 1)) >= needed) --least;
  while (least <= UINT16_MAX && Bound(static_cast<uint16_t>(least)) < needed) ++least;
  if (least > UINT16_MAX) return reader_.block_count();
  return FindBound(bounds_, from, reader_.block_count(), static_cast<uint16_t>(least));
}

void ScoredList::AppendBlock(size_t block, FixedScore least, Candidates* candidates) {
  const DocNumber* docs = Load(block);
  ScoreLoaded();
  candidates->Reserve(kPostingsPerBlock);
  candidates->count +=
      KeepAtLeast(least, docs, scores_.data(), reader_.size_of(block),
                  candidates->docs.data() + candidates->count, candidates->scores.data() + candidates->count);
}

void ScoredList::Append(DocNumber begin, DocNumber end, FixedScore least, Candidates* candidates) {
  for (block_ = reader_.FindBlock(block_, begin); HasBlock(); ++block_) {
    const bool whole = reader_.last_doc(block_) < end;
    if (Bound(bounds_[block_]) >= least) {
      const DocNumber* docs = Load(block_);
      const size_t first = FindDocument(docs, index_, begin);
      const size_t last = whole ? reader_.size_of(block_) : FindDocument(docs, first, end);
      if (first < last) {
        ScoreLoaded();
        candidates->Reserve(kPostingsPerBlock);
        candidates->count += KeepAtLeast(least, docs + first, scores_.data() + first, last - first,
                                         candidates->docs.data() + candidates->count,
                                         candidates->scores.data() + candidates->count);
      }
      index_ = last;
    }
    if (!whole) return;
  }
}

template <bool required>
void ScoredList::Refine(FixedScore needed, FixedScore rest, Candidates* candidates) {
  const float* const lengths = segment_.lengths->data();
  DocNumber* const docs = candidates->docs.data();
  FixedScore* const scores = candidates->scores.data();
  size_t kept = 0;
  FixedScore block_bound = 0;
  DocNumber block_last = 0;
  bool known = false;  // of the two above
  for (size_t c = 0; c < candidates->count; ++c) {
    const DocNumber doc = docs[c];
    FixedScore score = scores[c];
    if (!known || doc > block_last) {
      block_ = reader_.FindBlock(block_, doc);
      known = true;
      block_last = HasBlock() ? reader_.last_doc(block_) : kNoDoc;
      block_bound = HasBlock() ? Bound(bounds_[block_]) : 0;
    }
    if (score + block_bound + rest < needed || (required && !HasBlock())) continue;
    if (HasBlock()) {
      const DocNumber* held = Load(block_);
      index_ = FindDocument(held, index_, doc);
      if (held[index_] == doc) {
        reader_.ReadFrequencies(block_, weights_);
        score += scorer_.Score(reader_.frequencies()[index_], lengths[doc]);
      } else if (required) {
        continue;
      }
    }
    docs[kept] = doc;
    scores[kept] = score;
    kept += score + rest >= needed;
  }
  candidates->count = kept;
}
template void ScoredList::Refine<false>(FixedScore, FixedScore, Candidates*);
template void ScoredList::Refine<true>(FixedScore, FixedScore, Candidates*);

void ScoredList::RaiseTo(FixedScore needed, FixedScore rest, const Candidates& candidates, FixedScore* most) {
  const float* const lengths = segment_.lengths->data();
  for (size_t c = 0; c < candidates.count; ++c) {
    const DocNumber doc = candidates.docs[c];
    block_ = reader_.FindBlock(block_, doc);
    if (!HasBlock()) return;
    const FixedScore bound = Bound(bounds_[block_]);
    if (bound <= most[c] || candidates.scores[c] + bound + rest < needed) continue;
    const DocNumber* held = Load(block_);
    index_ = FindDocument(held, index_, doc);
    if (held[index_] != doc) continue;
    reader_.ReadFrequencies(block_, weights_);
    const float frequency = reader_.frequencies()[index_];
    if (some_fields_ && frequency == 0) continue;
    most[c] = std::max(most[c], scorer_.Score(frequency, lengths[doc]));
  }
}

void ScoredList::Exclude(Candidates* candidates) {
  size_t kept = 0;
  for (size_t c = 0; c < candidates->count; ++c) {
    const DocNumber doc = candidates->docs[c];
    if (NextAtLeast(doc) == doc) {
      if (!some_fields_) continue;
      reader_.ReadFrequencies(block_, weights_);
      if (reader_.frequencies()[index_] > 0) continue;
    }
    candidates->docs[kept] = doc;
    candidates->scores[kept++] = candidates->scores[c];
  }
  candidates->count = kept;
}

}  // namespace waymark
