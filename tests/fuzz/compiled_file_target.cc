#include <xxhash.h>

#include <cstring>
#include <memory>
#include <vector>

#include "index/compiled_image.h"
#include "index/posting_cursor.h"
#include "tests/fuzz/targets.h"

namespace waymark::fuzz {
namespace {

constexpr size_t kHashAt = 16, kHashed = 24;  // index/compiled_image.cc

}  // namespace

bool CompiledFile(const uint8_t* data, size_t size) {
  struct alignas(64) Block {  // images begin at multiples of 64
    uint8_t bytes[64];
  };
  auto buffer = std::make_shared<std::vector<Block>>(size / sizeof(Block) + 1);
  uint8_t* begin = buffer->data()->bytes;
  if (data != nullptr) std::memcpy(begin, data, size);
  if (size >= kHashed) {
    const uint64_t hash = XXH3_64bits(begin + kHashed, size - kHashed);
    std::memcpy(begin + kHashAt, &hash, sizeof(hash));
  }
  const auto opened = CompiledImage::Open({begin, size}, buffer);
  if (!opened.ok()) return false;
  const CompiledSegment& segment = **opened;
  uint64_t sum = 0;
  for (TermIndex t = 0; t < segment.term_count(); ++t) {
    sum += segment.FindTerm(segment.term(t)).has_value();
    PostingCursor cursor(segment, t);
    for (DocNumber doc = cursor.Advance(0); doc != kNoDoc; doc = cursor.Advance(doc + 1)) {
      for (size_t e = 0; e < cursor.entries().size(); ++e)
        sum += cursor.Positions(e).size() + segment.length(0, doc);
    }
  }
  for (ItemOrdinal item = 0; item < 100; ++item) sum += segment.Find(item).has_value();
  volatile uint64_t keep = sum;
  (void)keep;
  return true;
}

}  // namespace waymark::fuzz
