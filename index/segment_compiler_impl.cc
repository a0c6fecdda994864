#include "index/segment_compiler_impl.h"

#include <algorithm>

#include "index/lucene_names_impl.h"

namespace waymark::lucene_impl {
namespace {

using Lucene::newLucene;

std::vector<ItemOrdinal> ReadOrdinals(const Lucene::IndexReaderPtr& segment) {
  std::vector<ItemOrdinal> ordinals(segment->maxDoc(), kNoItem);
  Lucene::TermEnumPtr terms = segment->terms(newLucene<Lucene::Term>(kOrdinalField, L""));
  Lucene::TermDocsPtr documents = segment->termDocs();
  do {
    Lucene::TermPtr term = terms->term();
    if (!term || term->field() != kOrdinalField) break;
    const ItemOrdinal item = ParseOrdinal(term->text());
    documents->seek(terms);
    while (documents->next()) ordinals[documents->doc()] = item;
  } while (terms->next());
  return ordinals;
}

// The terms of one field, in order, with the postings of the current one. Lucene++ leaves deleted documents
// out.
class FieldTerms {
 public:
  FieldTerms(const Lucene::IndexReaderPtr& segment, const Lucene::String& field)
      : field_(field),
        terms_(segment->terms(newLucene<Lucene::Term>(field, L""))),
        postings_(segment->termPositions()) {
    Load();
  }
  bool done() const { return !term_; }
  const Lucene::String& text() const { return text_; }
  void Next() {
    if (terms_->next()) {
      Load();
    } else {
      term_.reset();
    }
  }

  void StartPostings() {
    postings_->seek(terms_);
    NextDocument();
  }
  DocNumber doc() const { return doc_; }
  void NextDocument() { doc_ = postings_->next() ? static_cast<DocNumber>(postings_->doc()) : kNoDoc; }
  const std::vector<int32_t>& ReadPositions() {
    positions_.clear();
    for (int32_t i = postings_->freq(); i > 0; --i) positions_.push_back(postings_->nextPosition());
    return positions_;
  }

 private:
  void Load() {
    term_ = terms_->term();
    if (term_ && term_->field() != field_) term_.reset();
    if (term_) text_ = term_->text();
  }
  Lucene::String field_;
  Lucene::TermEnumPtr terms_;
  Lucene::TermPositionsPtr postings_;
  Lucene::TermPtr term_;
  Lucene::String text_;
  DocNumber doc_ = kNoDoc;
  std::vector<int32_t> positions_;
};

// Adds the postings of the current term of `fields` (those that have it), merged by document.
void AddPostings(const std::vector<std::pair<uint32_t, FieldTerms*>>& fields, const std::string& term,
                 CompiledSegmentBuilder* builder) {
  DocNumber doc = kNoDoc;
  for (const auto& [number, field] : fields) {
    field->StartPostings();
    doc = std::min(doc, field->doc());
  }
  if (doc == kNoDoc) return;  // every document that held it is deleted
  builder->StartTerm(term);
  while (doc != kNoDoc) {
    DocNumber next = kNoDoc;
    for (const auto& [number, field] : fields) {
      if (field->doc() == doc) {
        builder->Add(doc, number, field->ReadPositions());
        field->NextDocument();
      }
      next = std::min(next, field->doc());
    }
    doc = next;
  }
}

std::vector<Lucene::String> TextFields(const Lucene::IndexReaderPtr& segment) {
  std::vector<Lucene::String> fields;
  Lucene::HashSet<Lucene::String> names = segment->getFieldNames(Lucene::IndexReader::FIELD_OPTION_INDEXED);
  for (const Lucene::String& name : names) {
    if (name.starts_with(kTextFieldPrefix)) fields.push_back(name);
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledSegment>> CompileSegment(const Lucene::IndexReaderPtr& segment,
                                                                      std::string name) {
  const std::vector<Lucene::String> wide_fields = TextFields(segment);
  std::vector<std::string> names;
  std::vector<FieldTerms> fields;
  for (const Lucene::String& field : wide_fields) {
    names.push_back(Utf8(field.substr(Lucene::String(kTextFieldPrefix).size())));
    fields.emplace_back(segment, field);
  }
  CompiledSegmentBuilder builder(name, std::move(names), ReadOrdinals(segment));
  std::string previous;
  std::vector<std::pair<uint32_t, FieldTerms*>> holders;
  while (true) {
    // The least term of those that the fields stand at, and the fields that stand at it.
    holders.clear();
    for (uint32_t i = 0; i < fields.size(); ++i) {
      if (fields[i].done()) continue;
      if (!holders.empty() && fields[i].text() > holders[0].second->text()) continue;
      if (!holders.empty() && fields[i].text() < holders[0].second->text()) holders.clear();
      holders.emplace_back(i, &fields[i]);
    }
    if (holders.empty()) break;
    std::string term = Utf8(holders[0].second->text());
    if (!previous.empty() && term <= previous) {
      return absl::DataLossError(
          absl::StrCat("segment ", name, ": term '", term, "' stands behind '", previous, "'"));
    }
    AddPostings(holders, term, &builder);
    for (auto& [number, field] : holders) field->Next();
    previous = std::move(term);
  }
  return builder.Finish();
}

}  // namespace waymark::lucene_impl
