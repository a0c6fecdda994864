#include "index/phrase_leaf.h"

#include <algorithm>
#include <utility>

namespace waymark {

PhraseCursor::PhraseCursor(const SegmentView& segment, const std::vector<Word>& words, const Bm25Term& scorer,
                           double average_length)
    : segment_(segment), scorer_(scorer) {
  bound_unit_ = static_cast<float>(scorer.weight * 1.00001 / ImpactBounds::kUnit *
                                   ImpactBounds::Factor(segment.bounds->average_length(), average_length));
  std::vector<Word> rarest_first = words;
  std::stable_sort(rarest_first.begin(), rarest_first.end(), [&](const Word& a, const Word& b) {
    return segment.postings->document_count(a.term) < segment.postings->document_count(b.term);
  });
  cursors_.reserve(words.size());
  for (const Word& word : rarest_first) {
    cursors_.emplace_back(*segment.postings, word.term);
    bounds_.push_back(segment.bounds->of_block(segment.postings->first_block(word.term)));
    offsets_.push_back(word.offset);
  }
}

DocNumber PhraseCursor::PassBlocks(DocNumber doc, FixedScore needed) {
  while (true) {
    // A phrase is no more frequent than its words, so it scores no more than the least of their bounds.
    DocNumber last = kNoDoc - 1;
    bool may = true;
    for (size_t i = 0; i < cursors_.size(); ++i) {
      const size_t block = cursors_[i].Seek(doc);
      if (block == cursors_[i].reader().block_count()) return kNoDoc;
      last = std::min(last, cursors_[i].reader().last_doc(block));
      may = may && static_cast<FixedScore>(bounds_[i][block] * bound_unit_) + 3 >= needed;
    }
    passed_ = last + 1;
    if (may) return doc;
    ++work_;
    doc = last + 1;
  }
}

DocNumber PhraseCursor::AdvanceToWords(DocNumber doc, FixedScore needed) {
  while (true) {
    if (needed > 0 && doc >= passed_) doc = PassBlocks(doc, needed);
    if (doc == kNoDoc) return kNoDoc;
    work_ += cursors_.size();
    doc = cursors_[0].Advance(doc);
    if (doc == kNoDoc) return kNoDoc;
    if (needed > 0 && doc >= passed_) continue;
    const DocNumber wanted = doc;
    for (size_t i = 1; i < cursors_.size() && doc == wanted; ++i) doc = cursors_[i].Advance(wanted);
    if (doc == kNoDoc) return doc;
    if (doc == wanted) {
      __builtin_prefetch(segment_.lengths->data() + doc);
      return doc;
    }
  }
}

size_t PhraseCursor::TakeWork() { return std::exchange(work_, 0); }

FixedScore PhraseCursor::Bound(float length) {
  float least = 0;
  for (size_t i = 0; i < cursors_.size(); ++i) {
    float frequency = 0;
    for (const PostingCursor::Entry& entry : cursors_[i].entries()) {
      frequency += segment_.weights[entry.field] * static_cast<float>(entry.tf);
    }
    least = i == 0 ? frequency : std::min(least, frequency);
  }
  return scorer_.Score(least * 1.00001f, length) + 1;
}

uint32_t PhraseCursor::CountPlaces(uint32_t field) {
  starts_.clear();
  for (size_t i = 0; i < cursors_.size(); ++i) {
    const auto entries = cursors_[i].entries();
    size_t entry = 0;
    while (entry < entries.size() && entries[entry].field != field) ++entry;
    if (entry == entries.size()) return 0;
    const absl::Span<const uint32_t> positions = cursors_[i].Positions(entry);
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
  return static_cast<uint32_t>(starts_.size());
}

float PhraseCursor::Frequency() {
  float frequency = 0;
  // A copy: entries() of the cursor are read again below.
  const std::vector<PostingCursor::Entry> fields(cursors_[0].entries().begin(), cursors_[0].entries().end());
  for (const PostingCursor::Entry& entry : fields) {
    frequency += segment_.weights[entry.field] * static_cast<float>(CountPlaces(entry.field));
  }
  return frequency;
}

DocNumber PhraseLeaf::NextAtLeast(DocNumber doc) {
  if (!started_ || (doc_ != kNoDoc && doc_ < doc)) {
    started_ = true;
    doc_ = cursor_.AdvanceToWords(doc);
  }
  return doc_;
}

size_t PhraseLeaf::Collect(Window* window, WindowBits* bits) {
  for (DocNumber doc = NextAtLeast(window->begin); doc < window->end; doc = NextAtLeast(doc + 1)) {
    const float frequency = cursor_.Frequency();
    if (frequency == 0) continue;
    const DocNumber at = doc - window->begin;
    (*bits)[at / 64] |= uint64_t{1} << (at % 64);
    window->scores[at] += cursor_.scorer().Score(frequency, (*segment_.lengths)[doc]);
  }
  return cursor_.TakeWork();
}

}  // namespace waymark
