#include "index/run_merge.h"

#include <algorithm>
#include <utility>

namespace waymark {
namespace {

// Of all files that are read at a time.
constexpr size_t kReadBytes = size_t{4} << 20;

// The current term's documents that live, under their new numbers.
bool NextLive(const SegmentRuns& segment, MergedTerms* terms, DocNumber* doc) {
  while (terms->NextDocument()) {
    *doc = segment.NewNumber(terms->doc());
    if (*doc != kNoDoc) return true;
  }
  return false;
}

// A field that has the term which is being compiled, at one of its documents.
struct TermHolder {
  uint32_t field;
  MergedTerms* terms;
  DocNumber doc;  // kNoDoc: there are no more
};

void CompileTerm(const SegmentRuns& segment, absl::Span<TermHolder> holders,
                 CompiledSegmentBuilder* builder) {
  DocNumber doc = kNoDoc;
  for (TermHolder& holder : holders) {
    if (!NextLive(segment, holder.terms, &holder.doc)) holder.doc = kNoDoc;
    doc = std::min(doc, holder.doc);
  }
  if (doc == kNoDoc) return;
  builder->StartTerm(holders[0].terms->term());
  while (doc != kNoDoc) {
    DocNumber next = kNoDoc;
    for (TermHolder& holder : holders) {
      if (holder.doc == doc) {
        builder->Add(doc, holder.field, holder.terms->positions());
        if (!NextLive(segment, holder.terms, &holder.doc)) holder.doc = kNoDoc;
      }
      next = std::min(next, holder.doc);
    }
    doc = next;
  }
}

}  // namespace

absl::Status WriteLuceneTerms(const SegmentRuns& segment, absl::Span<const uint32_t> lucene_fields,
                              LuceneSegmentWriter* writer) {
  for (size_t i = 0; i < segment.fields.size(); ++i) {
    writer->StartField(lucene_fields[i]);
    MergedTerms terms(segment.runs, segment.fields[i], kReadBytes);
    while (true) {
      if (absl::Status status = terms.Next(); !status.ok()) return status;
      if (terms.done()) break;
      writer->StartTerm(terms.term());
      for (DocNumber doc; NextLive(segment, &terms, &doc);) writer->Add(doc, terms.positions());
      writer->FinishTerm();
      if (!writer->status().ok()) return writer->status();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const CompiledSegment>> CompileRuns(const SegmentRuns& segment,
                                                                   const std::string& name,
                                                                   std::vector<std::string> names,
                                                                   std::vector<ItemOrdinal> ordinals) {
  CompiledSegmentBuilder builder(name, std::move(names), std::move(ordinals));
  std::vector<MergedTerms> fields;
  fields.reserve(segment.fields.size());
  for (uint32_t field : segment.fields) {
    MergedTerms& terms = fields.emplace_back(segment.runs, field, kReadBytes / segment.fields.size());
    if (absl::Status status = terms.Next(); !status.ok()) return status;
  }
  std::vector<TermHolder> holders;
  while (true) {
    // The least term of those that the fields stand at, and the fields that stand at it.
    holders.clear();
    for (uint32_t i = 0; i < fields.size(); ++i) {
      if (fields[i].done()) continue;
      if (!holders.empty()) {
        const int order = fields[i].term().compare(holders[0].terms->term());
        if (order > 0) continue;
        if (order < 0) holders.clear();
      }
      holders.push_back({i, &fields[i], kNoDoc});
    }
    if (holders.empty()) break;
    CompileTerm(segment, absl::MakeSpan(holders), &builder);
    for (TermHolder& holder : holders) {
      if (absl::Status status = holder.terms->Next(); !status.ok()) return status;
    }
  }
  return builder.Finish();
}

}  // namespace waymark
