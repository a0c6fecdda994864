// The bytes of a compiled segment: a header, then sections that begin at multiples of 64 bytes.
//
//   header:  magic, format version, size of the whole, hashes, counts, and where each section lies
//
// Numbers are little-endian. The hash (XXH3, 64 bits) is over everything behind it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "index/compiled_segment.h"

namespace waymark {

inline constexpr uint32_t kCompiledFormat = 1;

class CompiledImage {
 public:
  struct Parts {
    const std::string& name;
    const std::vector<std::string>& fields;
    const std::vector<ItemOrdinal>& ordinals;
    const std::vector<uint32_t>& lengths;
    const std::string& term_bytes;
    const std::vector<uint32_t>&term_ends, &document_counts, &first_blocks;
    const std::vector<PostingBlock>& blocks;
    const std::vector<uint64_t>&doc_bases, &position_bases;
    const std::vector<uint8_t>&doc_bytes, &position_bytes;
  };
  static std::shared_ptr<const CompiledSegment> Make(const Parts& parts);

  // A segment over bytes that `owner` keeps; they begin at a multiple of 64. Checks the hash and everything
  // that reading relies on. DATA_LOSS: damaged. FAILED_PRECONDITION: of a newer format.
  static absl::StatusOr<std::shared_ptr<const CompiledSegment>> Open(absl::Span<const uint8_t> bytes,
                                                                     std::shared_ptr<const void> owner);

 private:
  static absl::Status Map(absl::Span<const uint8_t> bytes, CompiledSegment* segment);
  static void MakeKeys(CompiledSegment* segment);
  static absl::Status CheckTables(const CompiledSegment& segment);
  static absl::Status CheckPostings(const CompiledSegment& segment);
};

}  // namespace waymark
