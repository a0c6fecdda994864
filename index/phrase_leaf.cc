#include "index/phrase_leaf.h"

#include <algorithm>
#include <utility>

#include "index/posting_kernels.h"

namespace waymark {

PhraseCursor::PhraseCursor(const SegmentView& segment, const std::vector<Word>& words, const Bm25Term& scorer,
                           double average_length, const Options& options)
    : segment_(segment),
      scorer_(scorer),
      weights_(options.weights.empty() ? absl::MakeConstSpan(segment.weights) : options.weights),
      slop_(options.slop) {
  bound_unit_ = static_cast<float>(scorer.weight * 1.00001 / ImpactBounds::kUnit *
                                   ImpactBounds::Factor(segment.bounds->average_length(), average_length));
  std::vector<Word> rarest_first = words;
  std::stable_sort(rarest_first.begin(), rarest_first.end(), [&](const Word& a, const Word& b) {
    return segment.postings->document_count(a.term) < segment.postings->document_count(b.term);
  });
  cursors_.reserve(words.size());
  bounds_.reserve(words.size());
  offsets_.reserve(words.size());
  for (const Word& word : rarest_first) {
    cursors_.emplace_back(*segment.postings, word.term);
    bounds_.push_back(segment.bounds->of_block(segment.postings->first_block(word.term)));
    offsets_.push_back(word.offset);
    if (slop_ > 0) terms_.push_back(word.term);
  }
  // Nearly every document holds a word like «the»: it is cheaper to look first whether the others stand as
  // the phrase says.
  const size_t frequent = segment.postings->doc_count() / 4;
  sought_ = cursors_.size();
  while (slop_ == 0 && sought_ > 2 && cursors_[sought_ - 1].reader().posting_count() > frequent) --sought_;
}

void PhraseCursor::PrefetchSecond(FixedScore least) {
  const PostingCursor& first = cursors_[0];
  prefetched_block_ = first.block();
  if (cursors_.size() < 2) return;
  const absl::Span<const DocNumber> docs = first.block_documents();
  size_t block = cursors_[1].block();
  for (size_t place = first.place(); place < docs.size(); ++place) {
    if (least <= 0 || first_scores_[place] >= least) block = cursors_[1].Prefetch(block, docs[place]);
    second_blocks_[place] = static_cast<uint32_t>(block);
  }
}

DocNumber PhraseCursor::AdvanceFirst(DocNumber doc, FixedScore needed) {
  PostingCursor& first = cursors_[0];
  if (needed <= 0) {
    doc = first.AdvanceNear(doc);
    if (doc != kNoDoc && prefetched_block_ != first.block()) PrefetchSecond(0);
    return doc;
  }
  // Frequencies are compared after rounding.
  const FixedScore least = needed - (needed >> 15) - 4;
  while (true) {
    if (!first.HasRead(doc)) {
      const size_t block = first.Seek(doc);
      if (block == first.reader().block_count()) return kNoDoc;
      if (!BlockMayScore(0, block, needed)) {
        ++work_;
        doc = first.reader().last_doc(block) + 1;
        continue;
      }
    }
    first.Advance(doc);
    const absl::Span<const DocNumber> docs = first.block_documents();
    if (scored_block_ != first.block()) {
      scored_block_ = first.block();
      ScoreBlock(scorer_, first.BlockFrequencies(weights_), docs.data(), docs.size(),
                 segment_.lengths->data(), first_scores_.data());
      work_ += kPostingsPerBlock / 2;
      PrefetchSecond(least);
    }
    const size_t place = FindScore(first_scores_.data(), first.place(), docs.size(), least);
    if (place < docs.size()) return first.Advance(docs[place]);
    doc = docs.back() + 1;
  }
}

DocNumber PhraseCursor::AdvanceToWords(DocNumber doc, FixedScore needed) {
  while (true) {
    ++work_;
    const DocNumber wanted = doc = AdvanceFirst(doc, needed);
    if (wanted == kNoDoc) return kNoDoc;
    for (size_t i = 1; i < sought_ && doc == wanted; ++i) {
      PostingCursor& cursor = cursors_[i];
      if (i == 1) cursor.SkipTo(second_blocks_[cursors_[0].place()]);
      if (needed > 0 && !cursor.HasRead(wanted)) {
        const size_t block = cursor.Seek(wanted);
        if (block == cursor.reader().block_count()) return kNoDoc;
        if (!BlockMayScore(i, block, needed)) {
          doc = cursor.reader().last_doc(block) + 1;
          break;
        }
      }
      ++work_;
      doc = cursor.Advance(wanted);
    }
    if (doc == kNoDoc) return doc;
    if (doc == wanted) {
      __builtin_prefetch(segment_.lengths->data() + doc);
      return doc;
    }
  }
}

size_t PhraseCursor::TakeWork() { return std::exchange(work_, 0); }

bool PhraseCursor::MayScore(FixedScore needed, float length) {
  const float first = cursors_[0].Frequency(weights_);
  float least = first;
  for (size_t i = 1; i < sought_; ++i) least = std::min(least, cursors_[i].Frequency(weights_));
  return least == first || scorer_.Score(least * 1.00001f, length) + 1 >= needed;
}

float PhraseCursor::SloppyPlaces(uint32_t field) {
  sloppy_.resize(cursors_.size());
  for (size_t i = 0; i < cursors_.size(); ++i) {
    const absl::Span<const uint32_t> positions = cursors_[i].PositionsIn(field);
    if (positions.empty()) return 0;
    sloppy_[i].term = terms_[i];
    sloppy_[i].offset = offsets_[i];
    sloppy_[i].positions.assign(positions.begin(), positions.end());
    work_ += positions.size();
  }
  return CountSloppyPlaces(&sloppy_, slop_, &work_);
}

float PhraseCursor::CountPlaces(uint32_t field) {
  for (size_t i = 0; i < sought_; ++i) {
    if (cursors_[i].CountIn(field) == 0) return 0;
  }
  const DocNumber doc = cursors_[0].doc();
  starts_.clear();
  for (size_t i = 0; i < cursors_.size(); ++i) {
    if (i >= sought_ && cursors_[i].Advance(doc) != doc) return 0;
    const absl::Span<const uint32_t> positions = cursors_[i].PositionsIn(field);
    const uint32_t offset = offsets_[i];
    work_ += positions.size() / 8;
    if (i == 0) {
      for (uint32_t position : positions) {
        if (position >= offset) starts_.push_back(position - offset);
      }
      continue;
    }
    size_t kept = 0, at = 0;
    for (uint32_t start : starts_) {
      while (at < positions.size() && positions[at] < start + offset) ++at;
      if (at < positions.size() && positions[at] == start + offset) starts_[kept++] = start;
    }
    starts_.resize(kept);
    if (starts_.empty()) return 0;
  }
  return static_cast<float>(starts_.size());
}

float PhraseCursor::Frequency() {
  float frequency = 0;
  for (const auto& column : cursors_[0].fields()) {
    const float weight = weights_[column.field];
    if (weight > 0) frequency += weight * Places(column.field);
  }
  return frequency;
}

DocNumber PhraseLeaf::NextAtLeast(DocNumber doc) {
  DocNumber first = kNoDoc;
  for (size_t v = 0; v < versions_.size(); ++v) {
    if (!started_ || (docs_[v] != kNoDoc && docs_[v] < doc)) docs_[v] = versions_[v].AdvanceToWords(doc);
    first = std::min(first, docs_[v]);
  }
  started_ = true;
  return first;
}

size_t PhraseLeaf::Collect(Window* window, WindowBits* bits) {
  for (DocNumber doc = NextAtLeast(window->begin); doc < window->end; doc = NextAtLeast(doc + 1)) {
    FixedScore best = 0;
    bool held = false;
    for (size_t v = 0; v < versions_.size(); ++v) {
      if (docs_[v] != doc) continue;
      const float frequency = versions_[v].Frequency();
      if (frequency == 0) continue;
      held = true;
      best = std::max(best, versions_[v].scorer().Score(frequency, (*segment_.lengths)[doc]));
    }
    if (!held) continue;
    const DocNumber at = doc - window->begin;
    (*bits)[at / 64] |= uint64_t{1} << (at % 64);
    window->scores[at] += best;
  }
  size_t work = 0;
  for (PhraseCursor& version : versions_) work += version.TakeWork();
  return work;
}

}  // namespace waymark
