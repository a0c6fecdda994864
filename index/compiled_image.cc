#include "index/compiled_image.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "index/huge_pages.h"
#include "index/packed_column.h"
#include "index/varint.h"

namespace waymark {
namespace {

constexpr std::array<char, 8> kMagic = {'W', 'M', 'P', 'O', 'S', 'T', 'I', 'N'};
constexpr size_t kAlignment = 64;

enum SectionId {
  kNames,  // the segment's and its fields', each ended by a zero byte
  kOrdinals,
  kByOrdinal,
  kShortLengths,
  kLongLengths,
  kTermBytes,
  kTermEnds,
  kDocumentCounts,
  kFirstBlocks,
  kBlocks,
  kDocBases,
  kPositionBases,
  kDocBytes,
  kPositionBytes,
  kSections
};

struct Header {
  std::array<char, 8> magic;
  uint32_t format, fields;
  uint64_t hash;   // of everything behind this field
  uint64_t bytes;  // of the whole
  struct Section {
    uint64_t offset, bytes;
  } sections[kSections];
};
static_assert(std::is_trivially_copyable_v<Header>);
constexpr size_t kHashed = offsetof(Header, bytes);

size_t Aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("compiled postings: ", std::string(what)));
}

template <typename T>
bool Ascending(absl::Span<const T> values) {
  return std::is_sorted(values.begin(), values.end());
}

}  // namespace

std::shared_ptr<const CompiledSegment> CompiledImage::Make(const Parts& parts) {
  std::string names = parts.name + '\0';
  for (const std::string& field : parts.fields) names += field + '\0';
  // Documents without an item are left out of the lookup; where there are none, and items come in order of
  // their ordinals (as after an import), the list of ordinals itself is the lookup.
  std::vector<DocNumber> by_ordinal;
  if (!std::is_sorted(parts.ordinals.begin(), parts.ordinals.end())) {
    for (DocNumber doc = 0; doc < parts.ordinals.size(); ++doc) {
      if (parts.ordinals[doc] != kNoItem) by_ordinal.push_back(doc);
    }
    std::stable_sort(by_ordinal.begin(), by_ordinal.end(),
                     [&](DocNumber a, DocNumber b) { return parts.ordinals[a] < parts.ordinals[b]; });
  }
  std::vector<uint16_t> short_lengths;
  const bool all_short = std::all_of(parts.lengths.begin(), parts.lengths.end(),
                                     [](uint32_t length) { return length <= 0xFFFF; });
  if (all_short) short_lengths.assign(parts.lengths.begin(), parts.lengths.end());

  Header header{kMagic, kCompiledFormat, static_cast<uint32_t>(parts.fields.size())};
  size_t end = Aligned(sizeof(Header));
  std::array<const void*, kSections> sources{};
  const auto place = [&](SectionId id, const auto& values) {
    header.sections[id] = {end, values.size() * sizeof(values[0])};
    sources[id] = values.data();
    end = Aligned(end + header.sections[id].bytes);
  };
  place(kNames, names);
  place(kOrdinals, parts.ordinals);
  place(kByOrdinal, by_ordinal);
  place(kShortLengths, short_lengths);
  place(kLongLengths, all_short ? std::vector<uint32_t>() : parts.lengths);
  if (!all_short) sources[kLongLengths] = parts.lengths.data();
  place(kTermBytes, parts.term_bytes);
  place(kTermEnds, parts.term_ends);
  place(kDocumentCounts, parts.document_counts);
  place(kFirstBlocks, parts.first_blocks);
  place(kBlocks, parts.blocks);
  place(kDocBases, parts.doc_bases);
  place(kPositionBases, parts.position_bases);
  place(kDocBytes, parts.doc_bytes);
  place(kPositionBytes, parts.position_bytes);
  end += kAlignment;  // what unpacking may read too far
  static_assert(kAlignment >= kUnpackSlack);
  header.bytes = end;

  auto buffer = std::make_shared<HugePageVector<uint8_t>>(end);
  for (size_t id = 0; id < kSections; ++id) {
    if (header.sections[id].bytes > 0) {
      std::memcpy(buffer->data() + header.sections[id].offset, sources[id], header.sections[id].bytes);
    }
  }
  std::memcpy(buffer->data(), &header, sizeof(header));
  header.hash = XXH3_64bits(buffer->data() + kHashed, end - kHashed);
  std::memcpy(buffer->data(), &header, sizeof(header));
  auto segment = std::make_shared<CompiledSegment>();
  segment->owner_ = buffer;
  (void)Map({buffer->data(), end}, segment.get());
  MakeKeys(segment.get());
  return segment;
}

absl::Status CompiledImage::Map(absl::Span<const uint8_t> bytes, CompiledSegment* segment) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  segment->image_ = bytes;
  bool fits = true;
  const auto section = [&](SectionId id, auto* span) {
    using T = std::remove_cv_t<std::remove_reference_t<decltype((*span)[0])>>;
    const auto [offset, size] = header.sections[id];
    if (offset % kAlignment != 0 || size % sizeof(T) != 0 || offset > bytes.size() - kUnpackSlack ||
        size > bytes.size() - kUnpackSlack - offset) {
      fits = false;
      return;
    }
    *span = absl::MakeConstSpan(reinterpret_cast<const T*>(bytes.data() + offset), size / sizeof(T));
  };
  absl::Span<const char> names;
  section(kNames, &names);
  section(kOrdinals, &segment->ordinals_);
  section(kByOrdinal, &segment->by_ordinal_);
  section(kShortLengths, &segment->short_lengths_);
  section(kLongLengths, &segment->long_lengths_);
  section(kTermBytes, &segment->term_bytes_);
  section(kTermEnds, &segment->term_ends_);
  section(kDocumentCounts, &segment->document_counts_);
  section(kFirstBlocks, &segment->first_blocks_);
  section(kBlocks, &segment->blocks_);
  section(kDocBases, &segment->doc_bases_);
  section(kPositionBases, &segment->position_bases_);
  section(kDocBytes, &segment->doc_bytes_);
  section(kPositionBytes, &segment->position_bytes_);
  if (!fits) return Damaged("a section lies outside the file");
  std::vector<std::string> texts;
  for (auto begin = names.begin(); begin != names.end();) {
    const auto zero = std::find(begin, names.end(), '\0');
    if (zero == names.end()) return Damaged("a name has no end");
    texts.emplace_back(begin, zero);
    begin = zero + 1;
  }
  if (texts.empty() || texts.size() - 1 != header.fields) return Damaged("names are missing");
  segment->name_ = texts[0];
  segment->fields_.assign(texts.begin() + 1, texts.end());
  return absl::OkStatus();
}

void CompiledImage::MakeKeys(CompiledSegment* segment) {
  for (size_t t = 0; t < segment->term_count(); t += kTermsPerKey) {
    segment->term_keys_.push_back(TermKey(segment->term(static_cast<TermIndex>(t))));
  }
}

absl::Status CompiledImage::CheckTables(const CompiledSegment& s) {
  const uint64_t docs = s.ordinals_.size(), terms = s.term_ends_.size(), blocks = s.blocks_.size();
  const uint64_t bases = (blocks + kBlocksPerBase - 1) / kBlocksPerBase;
  const uint64_t lengths = docs * s.fields_.size();
  if (docs >= kNoDoc || s.document_counts_.size() != terms || s.first_blocks_.size() != terms + 1 ||
      s.doc_bases_.size() != bases || s.position_bases_.size() != bases) {
    return Damaged("tables of different sizes");
  }
  if (s.long_lengths_.empty() ? s.short_lengths_.size() != lengths : s.long_lengths_.size() != lengths) {
    return Damaged("lengths are missing");
  }
  for (DocNumber doc : s.by_ordinal_) {
    if (doc >= docs) return Damaged("an item's document is out of range");
  }
  if (!Ascending(s.term_ends_) || (terms > 0 && s.term_ends_.back() > s.term_bytes_.size())) {
    return Damaged("terms out of range");
  }
  if (!Ascending(s.first_blocks_) || s.first_blocks_.front() != 0 || s.first_blocks_.back() != blocks) {
    return Damaged("blocks out of range");
  }
  for (TermIndex t = 0; t < terms; ++t) {
    const uint64_t count = s.document_counts_[t];
    if (s.first_blocks_[t + 1] - s.first_blocks_[t] != (count + kPostingsPerBlock - 1) / kPostingsPerBlock) {
      return Damaged("a term's blocks do not fit its count");
    }
    if (t > 0 && s.term(t - 1) >= s.term(t)) return Damaged("terms out of order");
  }
  return absl::OkStatus();
}

// Decodes every block, looking where each number ends before it is read.
absl::Status CompiledImage::CheckPostings(const CompiledSegment& s) {
  std::array<uint32_t, kPostingsPerBlock + kUnpackPadding> column;
  const uint8_t* const docs_end = s.doc_bytes_.data() + s.doc_bytes_.size();
  const uint8_t* const positions_end = s.position_bytes_.data() + s.position_bytes_.size();
  for (TermIndex t = 0; t < s.term_count(); ++t) {
    uint64_t next = 0;  // document
    for (uint64_t b = s.first_blocks_[t]; b < s.first_blocks_[t + 1]; ++b) {
      const uint64_t doc_at = s.doc_bases_[b / kBlocksPerBase] + s.blocks_[b].doc_offset;
      const uint64_t position_at = s.position_bases_[b / kBlocksPerBase] + s.blocks_[b].position_offset;
      if (doc_at > s.doc_bytes_.size() || position_at > s.position_bytes_.size()) {
        return Damaged("a block lies outside its stream");
      }
      const size_t count = std::min<uint64_t>(
          kPostingsPerBlock, s.document_counts_[t] - (b - s.first_blocks_[t]) * kPostingsPerBlock);
      const uint8_t* p = s.doc_bytes_.data() + doc_at;
      if (CheckColumn(p, docs_end, count) == nullptr) return Damaged("documents of a block");
      p = ReadColumn(p, count, column.data());
      for (size_t i = 0; i < count; ++i) next += uint64_t{column[i]} + 1;
      if (next - 1 != s.blocks_[b].last_doc || next > s.doc_count()) return Damaged("documents of a block");
      uint64_t positions = 0;
      uint32_t fields = 1, field = 0;
      const bool many = s.fields_.size() != 1;
      if (many && !CheckVarint(p, docs_end, &fields)) return Damaged("fields of a block");
      for (uint32_t f = 0, previous = 0; f < fields; ++f, previous = field) {
        if (many && !CheckVarint(p, docs_end, &field)) return Damaged("fields of a block");
        if (field >= s.fields_.size() || (f > 0 && field <= previous)) return Damaged("fields of a block");
        if (CheckColumn(p, docs_end, count) == nullptr) return Damaged("frequencies of a block");
        p = ReadColumn(p, count, column.data());
        for (size_t i = 0; i < count; ++i) positions += uint64_t{column[i]} + !many;
      }
      if (CheckColumn(s.position_bytes_.data() + position_at, positions_end, positions) == nullptr) {
        return Damaged("positions of a block");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const CompiledSegment>> CompiledImage::Open(
    absl::Span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
  Header header;
  if (bytes.size() < sizeof(header) + kUnpackSlack) return Damaged("shorter than a header");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != kMagic) return Damaged("another magic");
  if (header.format > kCompiledFormat) {
    return absl::FailedPreconditionError(absl::StrCat("compiled postings: format ", header.format,
                                                      " is newer than this program's ", kCompiledFormat));
  }
  if (header.format != kCompiledFormat) return Damaged("an unknown format");
  if (header.bytes != bytes.size()) return Damaged("cut short");
  if (XXH3_64bits(bytes.data() + kHashed, bytes.size() - kHashed) != header.hash)
    return Damaged("its hash differs");
  auto segment = std::make_shared<CompiledSegment>();
  segment->owner_ = std::move(owner);
  if (absl::Status status = Map(bytes, segment.get()); !status.ok()) return status;
  if (absl::Status status = CheckTables(*segment); !status.ok()) return status;
  if (absl::Status status = CheckPostings(*segment); !status.ok()) return status;
  MakeKeys(segment.get());
  return segment;
}

}  // namespace waymark
