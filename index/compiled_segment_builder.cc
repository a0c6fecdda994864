#include <algorithm>

#include "index/analyzer.h"
#include "index/compiled_image.h"
#include "index/compiled_segment.h"
#include "index/packed_column.h"
#include "index/varint.h"

namespace waymark {

CompiledSegmentBuilder::CompiledSegmentBuilder(std::string name, std::vector<std::string> fields,
                                               std::vector<ItemOrdinal> ordinals)
    : name_(std::move(name)), fields_(std::move(fields)), ordinals_(std::move(ordinals)) {
  lengths_.resize(fields_.size() * ordinals_.size());
}

void CompiledSegmentBuilder::StartTerm(std::string_view term) {
  FinishTerm();
  in_term_ = true;
  in_form_ = IsForm(term);
  term_bytes_.append(term);
  first_blocks_.push_back(static_cast<uint32_t>(blocks_.size()));
  last_doc_ = kNoDoc;
  postings_ = 0;
}

void CompiledSegmentBuilder::Add(DocNumber doc, uint32_t field, absl::Span<const int32_t> positions) {
  if (doc != last_doc_) {
    if (gaps_.size() == kPostingsPerBlock) FinishBlock();
    gaps_.push_back(doc - last_doc_ - 1);  // kNoDoc is -1
    last_doc_ = doc;
    ++postings_;
  }
  const auto tf = static_cast<uint32_t>(positions.size());
  entries_.push_back({static_cast<uint32_t>(gaps_.size() - 1), field, tf});
  if (!in_form_) lengths_[field * ordinals_.size() + doc] += tf;
  int32_t previous = 0;
  for (int32_t position : positions) {
    positions_.push_back(static_cast<uint32_t>(position - previous));
    previous = position;
  }
}

void CompiledSegmentBuilder::FinishBlock() {
  if (gaps_.empty()) return;
  if (blocks_.size() % kBlocksPerBase == 0) {
    doc_bases_.push_back(doc_bytes_.size());
    position_bases_.push_back(position_bytes_.size());
  }
  blocks_.push_back({last_doc_, static_cast<uint32_t>(doc_bytes_.size() - doc_bases_.back()),
                     static_cast<uint32_t>(position_bytes_.size() - position_bases_.back())});
  AppendColumn(gaps_, &doc_bytes_);
  AppendFrequencies();
  AppendColumn(positions_, &position_bytes_);
  gaps_.clear();
  entries_.clear();
  positions_.clear();
}

void CompiledSegmentBuilder::AppendFrequencies() {
  column_.assign(gaps_.size(), 0);
  if (fields_.size() == 1) {
    for (const Entry& entry : entries_) column_[entry.posting] = entry.tf - 1;
    return AppendColumn(column_, &doc_bytes_);
  }
  std::vector<uint32_t> fields;
  for (const Entry& entry : entries_) fields.push_back(entry.field);
  std::sort(fields.begin(), fields.end());
  fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  AppendVarint(static_cast<uint32_t>(fields.size()), &doc_bytes_);
  for (uint32_t field : fields) {
    std::fill(column_.begin(), column_.end(), 0);
    for (const Entry& entry : entries_) {
      if (entry.field == field) column_[entry.posting] = entry.tf;
    }
    AppendVarint(field, &doc_bytes_);
    AppendColumn(column_, &doc_bytes_);
  }
}

void CompiledSegmentBuilder::FinishTerm() {
  FinishBlock();
  if (!in_term_) return;
  term_ends_.push_back(static_cast<uint32_t>(term_bytes_.size()));
  document_counts_.push_back(postings_);
  in_term_ = false;
}

std::shared_ptr<const CompiledSegment> CompiledSegmentBuilder::Finish() {
  FinishTerm();
  first_blocks_.push_back(static_cast<uint32_t>(blocks_.size()));
  CompiledImage::Parts parts{name_,           fields_,          ordinals_,      lengths_, term_bytes_,
                             term_ends_,      document_counts_, first_blocks_,  blocks_,  doc_bases_,
                             position_bases_, doc_bytes_,       position_bytes_};
  return CompiledImage::Make(parts);
}

}  // namespace waymark
