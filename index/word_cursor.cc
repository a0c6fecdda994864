#include "index/word_cursor.h"

#include <algorithm>

namespace waymark {

std::optional<WordCursor> WordCursor::Make(const SegmentView& segment, const BoundQuery& bound, size_t t) {
  WordCursor cursor(segment, bound.lengths);
  if (bound.StandsForSeveral(t)) {
    for (const BoundVariant& variant : bound.variants[t]) {
      if (cursor.cursors_.size() == kMostTerms) break;
      cursor.Add(variant.found[segment.number], variant.weight);
    }
  } else {
    cursor.Add(bound.found_terms[segment.number][t], bound.term_weight[t]);
  }
  return cursor.cursors_.empty() ? std::nullopt : std::optional(std::move(cursor));
}

void WordCursor::Add(TermIndex term, float weight) {
  if (term == kNoTerm) return;
  cursors_.emplace_back(*segment_->postings, term);
  weights_.push_back(weight);
  postings_ += segment_->postings->document_count(term);
}

DocNumber WordCursor::Advance(DocNumber doc) {
  doc_ = kNoDoc;
  for (PostingCursor& cursor : cursors_) doc_ = std::min(doc_, cursor.Advance(doc));
  return doc_;
}

bool WordCursor::HeldIn(uint32_t field) {
  for (PostingCursor& cursor : cursors_) {
    if (cursor.doc() != doc_) continue;
    for (const PostingCursor::Entry& entry : cursor.entries()) {
      if (entry.field == field) return true;
    }
  }
  return false;
}

void WordCursor::ReadPlaces(std::vector<Place>* places) {
  places->clear();
  for (PostingCursor& cursor : cursors_) {
    if (cursor.doc() != doc_) continue;
    for (size_t entry = 0; entry < cursor.entries().size(); ++entry) {
      const uint32_t field = cursor.entries()[entry].field;
      for (const uint32_t position : cursor.Positions(entry)) places->push_back({field, position});
    }
  }
  if (cursors_.size() > 1) std::sort(places->begin(), places->end());
}

FixedScore WordCursor::Score() {
  FixedScore best = 0;
  for (size_t i = 0; i < cursors_.size(); ++i) {
    if (cursors_[i].doc() != doc_ || weights_[i] == 0) continue;
    float frequency = 0;
    for (const PostingCursor::Entry& entry : cursors_[i].entries()) {
      frequency += segment_->weights[entry.field] * static_cast<float>(entry.tf);
    }
    best = std::max(best, Bm25Term{weights_[i], lengths_}.Score(frequency, (*segment_->lengths)[doc_]));
  }
  return best;
}

}  // namespace waymark
