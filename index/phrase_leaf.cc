#include "index/phrase_leaf.h"

#include <algorithm>
#include <utility>

namespace waymark {

PhraseCursor::PhraseCursor(const SegmentView& segment, const std::vector<Word>& words) : segment_(segment) {
  std::vector<Word> rarest_first = words;
  std::stable_sort(rarest_first.begin(), rarest_first.end(), [&](const Word& a, const Word& b) {
    return segment.postings->document_count(a.term) < segment.postings->document_count(b.term);
  });
  for (const Word& word : rarest_first) {
    cursors_.emplace_back(*segment.postings, word.term);
    offsets_.push_back(word.offset);
  }
}

DocNumber PhraseCursor::AdvanceToWords(DocNumber doc) {
  for (size_t agreed = 0; agreed < cursors_.size();) {
    for (PostingCursor& cursor : cursors_) {
      ++work_;
      const DocNumber at = cursor.Advance(doc);
      if (at == kNoDoc) return doc_ = kNoDoc;
      agreed = at == doc ? agreed + 1 : 1;
      doc = at;
      if (agreed == cursors_.size()) break;
    }
  }
  return doc_ = doc;
}

size_t PhraseCursor::TakeWork() { return std::exchange(work_, 0); }

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
  for (const PostingCursor::Entry& entry : cursors_[0].entries()) {
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
    window->scores[at] += Bm25Score(idf_, frequency, (*segment_.lengths)[doc], lengths_);
  }
  return cursor_.TakeWork();
}

}  // namespace waymark
