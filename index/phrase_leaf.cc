#include "index/phrase_leaf.h"

#include <algorithm>
#include <utility>

namespace waymark {
namespace {

constexpr size_t kNoEntry = SIZE_MAX;

// The number of the entry of the cursor's posting for this field.
inline size_t EntryOf(PostingCursor* cursor, uint32_t field) {
  const auto entries = cursor->entries();
  for (size_t entry = 0; entry < entries.size(); ++entry) {
    if (entries[entry].field == field) return entry;
  }
  return kNoEntry;
}

}  // namespace

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
      frequency += weights_[entry.field] * static_cast<float>(entry.tf);
    }
    least = i == 0 ? frequency : std::min(least, frequency);
  }
  return scorer_.Score(least * 1.00001f, length) + 1;
}

float PhraseCursor::SloppyPlaces(uint32_t field) {
  sloppy_.resize(cursors_.size());
  for (size_t i = 0; i < cursors_.size(); ++i) {
    const size_t entry = EntryOf(&cursors_[i], field);
    if (entry == kNoEntry) return 0;
    const absl::Span<const uint32_t> positions = cursors_[i].Positions(entry);
    sloppy_[i].term = terms_[i];
    sloppy_[i].offset = offsets_[i];
    sloppy_[i].positions.assign(positions.begin(), positions.end());
    work_ += positions.size();
  }
  return CountSloppyPlaces(&sloppy_, slop_, &work_);
}

float PhraseCursor::CountPlaces(uint32_t field) {
  starts_.clear();
  for (size_t i = 0; i < cursors_.size(); ++i) {
    const size_t entry = EntryOf(&cursors_[i], field);
    if (entry == kNoEntry) return 0;
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
  return static_cast<float>(starts_.size());
}

float PhraseCursor::Frequency() {
  float frequency = 0;
  for (const PostingCursor::Entry& entry : cursors_[0].entries()) {
    const float weight = weights_[entry.field];
    if (weight > 0) frequency += weight * Places(entry.field);
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
