#include "rank/ranker_input.h"

#include <xxhash.h>

#include <string>

#include "tests/support/catch.h"

namespace waymark {
namespace {

uint64_t HashOf(const std::string& word) {
  const std::string text = std::string("query\0", 6) + word;
  return XXH3_64bits(text.data(), text.size());
}

TEST_CASE("query words are case-folded runs of letters and digits") {
  CHECK(QueryWordHashes("Star-Wars, 1977!", 16) ==
        std::vector<uint64_t>{HashOf("star"), HashOf("wars"), HashOf("1977")});
  CHECK(QueryWordHashes("\xC3\x84RGER", 16) == std::vector<uint64_t>{HashOf("\xC3\xA4rger")});
  CHECK(QueryWordHashes("a b c d", 2) == std::vector<uint64_t>{HashOf("a"), HashOf("b")});
  CHECK(QueryWordHashes("  ...  ", 16).empty());
  // What is not UTF-8 separates words.
  CHECK(QueryWordHashes("a\xFF"
                        "b",
                        16) == std::vector<uint64_t>{HashOf("a"), HashOf("b")});
}

TEST_CASE("the newest twenty events are read, newest first") {
  RequestContext context;
  for (ItemOrdinal i = 0; i < 30; ++i) {
    HistoryEvent event;
    event.item = i;
    event.type = 100 + i;
    context.history.push_back(event);
  }
  const RankerInput input = MakeRankerInput(context);
  REQUIRE(input.history.size() == 20);
  CHECK(input.history.front() == 29);
  CHECK(input.history.back() == 10);
  CHECK(input.types.front() == 129);
  CHECK(input.query.empty());
}

}  // namespace
}  // namespace waymark
