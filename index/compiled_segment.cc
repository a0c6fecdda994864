#include "index/compiled_segment.h"

#include <algorithm>

#include "index/varint.h"

namespace waymark {

size_t CompiledSegment::memory_bytes() const {
  return ordinals_.size() * sizeof(ItemOrdinal) + by_ordinal_.size() * sizeof(by_ordinal_[0]) +
         lengths_.size() * sizeof(uint32_t) + term_bytes_.size() + term_begin_.size() * sizeof(uint64_t) +
         document_counts_.size() * sizeof(uint32_t) + first_block_.size() * sizeof(uint64_t) +
         blocks_.size() * sizeof(PostingBlock) + doc_bytes_.size() + position_bytes_.size();
}

std::optional<DocNumber> CompiledSegment::Find(ItemOrdinal item) const {
  if (by_ordinal_.empty()) {
    auto after = std::upper_bound(ordinals_.begin(), ordinals_.end(), item);
    if (after == ordinals_.begin() || *(after - 1) != item) return std::nullopt;
    return static_cast<DocNumber>(after - ordinals_.begin() - 1);
  }
  auto after = std::upper_bound(by_ordinal_.begin(), by_ordinal_.end(), std::pair(item, kNoDoc));
  if (after == by_ordinal_.begin() || (after - 1)->first != item) return std::nullopt;
  return (after - 1)->second;
}

std::string_view CompiledSegment::term(TermIndex t) const {
  return std::string_view(term_bytes_).substr(term_begin_[t], term_begin_[t + 1] - term_begin_[t]);
}

std::optional<TermIndex> CompiledSegment::FindTerm(std::string_view text) const {
  TermIndex low = 0, high = static_cast<TermIndex>(term_count());
  while (low < high) {
    const TermIndex middle = low + (high - low) / 2;
    if (term(middle) < text) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == term_count() || term(low) != text) return std::nullopt;
  return low;
}

CompiledSegmentBuilder::CompiledSegmentBuilder(std::string name, std::vector<std::string> fields,
                                               std::vector<ItemOrdinal> ordinals)
    : segment_(new CompiledSegment) {
  segment_->name_ = std::move(name);
  segment_->fields_ = std::move(fields);
  segment_->ordinals_ = std::move(ordinals);
  segment_->lengths_.resize(segment_->fields_.size() * segment_->ordinals_.size());
}

void CompiledSegmentBuilder::StartTerm(std::string_view term) {
  FinishTerm();
  CompiledSegment& s = *segment_;
  s.term_begin_.push_back(s.term_bytes_.size());
  s.term_bytes_.append(term);
  s.first_block_.push_back(s.blocks_.size());
  postings_ = 0;
  previous_doc_ = 0;
}

void CompiledSegmentBuilder::Add(DocNumber doc, uint32_t field, absl::Span<const int32_t> positions) {
  CompiledSegment& s = *segment_;
  if (doc != doc_) {
    FinishPosting();
    doc_ = doc;
    if (postings_ % kPostingsPerBlock == 0) {
      s.blocks_.push_back({s.doc_bytes_.size(), s.position_bytes_.size(), doc});
    }
  }
  entries_.push_back({field, static_cast<uint32_t>(positions.size())});
  s.lengths_[field * s.ordinals_.size() + doc] += static_cast<uint32_t>(positions.size());
  int32_t previous = 0;
  for (int32_t position : positions) {
    AppendVarint(static_cast<uint32_t>(position - previous), &s.position_bytes_);
    previous = position;
  }
}

void CompiledSegmentBuilder::FinishPosting() {
  if (entries_.empty()) return;
  CompiledSegment& s = *segment_;
  AppendVarint(doc_ - previous_doc_, &s.doc_bytes_);
  uint32_t previous_field = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const bool once = entries_[i].tf == 1;
    const bool more = i + 1 < entries_.size();
    AppendVarint((entries_[i].field - previous_field) << 2 | (once ? 2u : 0u) | (more ? 1u : 0u),
                 &s.doc_bytes_);
    if (!once) AppendVarint(entries_[i].tf, &s.doc_bytes_);
    previous_field = entries_[i].field;
  }
  s.blocks_.back().last_doc = doc_;
  previous_doc_ = doc_;
  ++postings_;
  entries_.clear();
}

void CompiledSegmentBuilder::FinishTerm() {
  FinishPosting();
  doc_ = kNoDoc;
  CompiledSegment& s = *segment_;
  if (s.document_counts_.size() < s.term_begin_.size()) s.document_counts_.push_back(postings_);
}

std::shared_ptr<const CompiledSegment> CompiledSegmentBuilder::Finish() {
  FinishTerm();
  CompiledSegment& s = *segment_;
  s.term_begin_.push_back(s.term_bytes_.size());
  s.first_block_.push_back(s.blocks_.size());
  // Documents without an item are left out of the lookup; where there are none, and items come in order of
  // their ordinals (as after an import), the list of ordinals itself is the lookup.
  if (!std::is_sorted(s.ordinals_.begin(), s.ordinals_.end())) {
    for (DocNumber doc = 0; doc < s.doc_count(); ++doc) {
      if (s.ordinals_[doc] != kNoItem) s.by_ordinal_.emplace_back(s.ordinals_[doc], doc);
    }
    std::sort(s.by_ordinal_.begin(), s.by_ordinal_.end());
  }
  for (auto* bytes : {&s.doc_bytes_, &s.position_bytes_}) bytes->shrink_to_fit();
  s.blocks_.shrink_to_fit();
  s.term_bytes_.shrink_to_fit();
  s.term_begin_.shrink_to_fit();
  return std::shared_ptr<const CompiledSegment>(std::move(segment_));
}

}  // namespace waymark
