#include "rank/ranker_input.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <xxhash.h>

#include <algorithm>
#include <string>

namespace waymark {
namespace {

constexpr size_t kMaxWordBytes = 128;  // longer ones are cut: the rest says nothing more

void AppendUtf8(UChar32 c, std::string* out) {
  uint8_t bytes[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, c);
  out->append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
}

}  // namespace

std::vector<uint64_t> QueryWordHashes(std::string_view query, size_t limit) {
  static constexpr std::string_view kPrefix("query\0", 6);
  std::vector<uint64_t> hashes;
  std::string word(kPrefix);
  auto finish = [&] {
    if (word.size() > kPrefix.size()) hashes.push_back(XXH3_64bits(word.data(), word.size()));
    word.assign(kPrefix);
  };
  const auto* bytes = reinterpret_cast<const uint8_t*>(query.data());
  const auto length = static_cast<int32_t>(std::min<size_t>(query.size(), 1 << 16));
  for (int32_t i = 0; i < length && hashes.size() < limit;) {
    UChar32 c;
    U8_NEXT(bytes, i, length, c);
    if (c >= 0 && u_isalnum(c)) {
      if (word.size() < kMaxWordBytes) AppendUtf8(u_foldCase(c, U_FOLD_CASE_DEFAULT), &word);
    } else {
      finish();
    }
  }
  if (hashes.size() < limit) finish();
  return hashes;
}

RankerInput MakeRankerInput(const RequestContext& context) {
  RankerInput input;
  const size_t count = std::min(context.history.size(), kRankerHistory);
  for (size_t age = 0; age < count; ++age) {
    const HistoryEvent& event = context.history[context.history.size() - 1 - age];
    input.history.push_back(event.item);
    input.types.push_back(event.type);
  }
  input.query = QueryWordHashes(context.query, kRankerQueryWords);
  return input;
}

}  // namespace waymark
