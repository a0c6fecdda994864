// Writes a Lucene segment from postings that are sorted already, byte for byte as Lucene++'s own IndexWriter
// writes the same documents in one segment: nothing stored, no norms, the searched fields with positions, and
// the field of ordinals (index/lucene_names_impl.h) without. Lucene++'s classes for it are not exported, and
// take eight times as long for a posting. ("Index File Formats" of Apache Lucene 2.9.)
//
//   .fnm fields   .fdx .fdt stored documents (empty)   .nrm norms (none)   .tis .tii terms
//   .frq documents and frequencies   .prx positions
//
//   LuceneSegmentWriter writer(folder, "_7", {"title", "text"});
//   writer.StartField(1);                 // "text"
//   writer.StartTerm("war");
//   writer.Add(/*doc=*/3, /*positions=*/{1, 5});
//   writer.FinishTerm();
//   auto files = writer.Finish(ordinals);
//
// Not thread-safe.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "index/append_file.h"
#include "index/compiled_segment.h"
#include "index/skip_list_writer.h"
#include "index/term_dictionary_writer.h"

namespace waymark {

class LuceneSegmentWriter {
 public:
  // `fields`: the schema's names of the searched fields that documents have.
  LuceneSegmentWriter(const std::filesystem::path& folder, const std::string& segment,
                      std::vector<std::string> fields);

  // One of `fields`; by their names.
  void StartField(uint32_t field) { field_ = field; }
  // By the terms' bytes. One that gets no document leaves nothing.
  void StartTerm(std::string_view term);
  // Documents ascend; `positions`: ascending, not empty.
  void Add(DocNumber doc, absl::Span<const int32_t> positions) {
    if (++documents_ % kSkipInterval == 0) {
      skips_.Add(documents_, last_doc_, frequencies_.size(), positions_->size());
    }
    const uint64_t gap = doc - last_doc_;
    last_doc_ = doc;
    if (positions.size() == 1) {
      frequencies_.AppendVarint(gap << 1 | 1);
    } else {
      frequencies_.AppendVarint(gap << 1);
      frequencies_.AppendVarint(positions.size());
    }
    int32_t previous = 0;
    for (int32_t position : positions) {
      positions_->AppendVarint(static_cast<uint32_t>(position - previous));
      previous = position;
    }
  }
  void FinishTerm();
  // The first error so far.
  absl::Status status() const;

  // Writes what is left. Names the files.  ordinals: [documents], each once.
  absl::StatusOr<std::vector<std::string>> Finish(absl::Span<const ItemOrdinal> ordinals);

 private:
  void WriteOrdinals(absl::Span<const ItemOrdinal> ordinals);
  absl::Status WriteFields() const;
  absl::Status WriteEmptyDocuments(size_t count) const;
  absl::Status WriteNoNorms() const;
  std::string FileName(std::string_view ending) const;

  const std::filesystem::path folder_;
  const std::string segment_;
  const std::vector<std::string> fields_;
  AppendFile frequencies_;
  std::optional<AppendFile> positions_;  // none where no field has some
  TermDictionaryWriter dictionary_;
  SkipListWriter skips_;

  uint32_t field_ = 0;
  std::string term_;
  TermDictionaryWriter::Place place_;
  uint32_t documents_ = 0;  // of the term
  DocNumber last_doc_ = 0;
};

}  // namespace waymark
