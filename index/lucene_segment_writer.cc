#include "index/lucene_segment_writer.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "index/lucene_names_impl.h"

namespace waymark {
namespace {

// Field 0; the searched ones follow.
constexpr uint32_t kOrdinalFieldNumber = 0;
// Flags of a field in .fnm.
constexpr uint8_t kIndexed = 0x01, kNoNorms = 0x10, kNoFrequencies = 0x40;
constexpr int32_t kFieldsFormat = -2, kDocumentsFormat = 2;
constexpr std::string_view kNormsHeader = "NRM\xFF";

// Documents by their ordinals.
std::vector<DocNumber> ByOrdinal(absl::Span<const ItemOrdinal> ordinals) {
  std::vector<DocNumber> documents(ordinals.size());
  std::iota(documents.begin(), documents.end(), DocNumber{0});
  if (!std::is_sorted(ordinals.begin(), ordinals.end())) {
    std::sort(documents.begin(), documents.end(),
              [&](DocNumber a, DocNumber b) { return ordinals[a] < ordinals[b]; });
  }
  return documents;
}

}  // namespace

LuceneSegmentWriter::LuceneSegmentWriter(const std::filesystem::path& folder, const std::string& segment,
                                         std::vector<std::string> fields)
    : folder_(folder),
      segment_(segment),
      fields_(std::move(fields)),
      frequencies_(folder_ / FileName(".frq")),
      dictionary_(folder_, segment_) {
  if (!fields_.empty()) positions_.emplace(folder_ / FileName(".prx"));
}

std::string LuceneSegmentWriter::FileName(std::string_view ending) const {
  return absl::StrCat(segment_, std::string(ending));
}

void LuceneSegmentWriter::StartTerm(std::string_view term) {
  term_ = term;
  place_ = {0, frequencies_.size(), positions_->size()};
  documents_ = 0;
  last_doc_ = 0;
  skips_.Start(place_.frequencies_at, place_.positions_at);
}

void LuceneSegmentWriter::FinishTerm() {
  if (documents_ == 0) return;
  place_.documents = documents_;
  place_.skips_at = static_cast<uint32_t>(frequencies_.size() - place_.frequencies_at);
  skips_.AppendTo(&frequencies_);
  dictionary_.Add(kOrdinalFieldNumber + 1 + field_, term_, place_);
}

void LuceneSegmentWriter::WriteOrdinals(absl::Span<const ItemOrdinal> ordinals) {
  const uint64_t positions_at = positions_ ? positions_->size() : 0;
  for (DocNumber doc : ByOrdinal(ordinals)) {
    const std::array<char, 8> text = lucene_impl::OrdinalBytes(ordinals[doc]);
    const uint64_t at = frequencies_.size();
    frequencies_.AppendVarint(doc);
    dictionary_.Add(kOrdinalFieldNumber, {text.data(), text.size()}, {1, at, positions_at});
  }
}

absl::Status LuceneSegmentWriter::WriteFields() const {
  AppendFile file(folder_ / FileName(".fnm"));
  file.AppendVarint(static_cast<uint32_t>(kFieldsFormat));
  file.AppendVarint(1 + fields_.size());
  const auto add = [&](const std::string& name, uint8_t flags) {
    file.AppendVarint(name.size());
    file.Append(name);
    file.AppendByte(flags);
  };
  add(lucene_impl::Utf8(lucene_impl::kOrdinalField), kIndexed | kNoNorms | kNoFrequencies);
  for (const std::string& field : fields_) {
    add(absl::StrCat(lucene_impl::Utf8(lucene_impl::kTextFieldPrefix), field), kIndexed | kNoNorms);
  }
  return file.Close();
}

absl::Status LuceneSegmentWriter::WriteEmptyDocuments(size_t count) const {
  AppendFile places(folder_ / FileName(".fdx")), documents(folder_ / FileName(".fdt"));
  places.AppendBigEndian32(kDocumentsFormat);
  documents.AppendBigEndian32(kDocumentsFormat);
  for (size_t i = 0; i < count; ++i) {
    places.AppendBigEndian64(documents.size());
    documents.AppendVarint(0);  // stored fields
  }
  if (absl::Status status = places.Close(); !status.ok()) return status;
  return documents.Close();
}

absl::Status LuceneSegmentWriter::WriteNoNorms() const {
  AppendFile file(folder_ / FileName(".nrm"));
  file.Append(kNormsHeader);
  return file.Close();
}

absl::Status LuceneSegmentWriter::status() const {
  if (!frequencies_.status().ok()) return frequencies_.status();
  if (positions_ && !positions_->status().ok()) return positions_->status();
  return dictionary_.status();
}

absl::StatusOr<std::vector<std::string>> LuceneSegmentWriter::Finish(absl::Span<const ItemOrdinal> ordinals) {
  WriteOrdinals(ordinals);
  std::vector<std::string> files = {".fdt", ".fdx", ".fnm", ".frq", ".nrm", ".tii", ".tis"};
  if (positions_) files.push_back(".prx");
  for (std::string& file : files) file = FileName(file);
  absl::Status status = frequencies_.Close();
  if (status.ok() && positions_) status = positions_->Close();
  if (status.ok()) status = dictionary_.Close();
  if (status.ok()) status = WriteFields();
  if (status.ok()) status = WriteEmptyDocuments(ordinals.size());
  if (status.ok()) status = WriteNoNorms();
  if (!status.ok()) return status;
  return files;
}

}  // namespace waymark
