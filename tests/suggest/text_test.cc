#include "suggest/complete.h"
#include "suggest/completion_text.h"
#include "suggest/typo_ranges.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Matches = std::vector<CompletionMatch>;

TEST_CASE("texts are compared by their words in lower case, with one blank between them") {
  CHECK(FoldForCompletion("Spider-Man:  Homecoming!").folded == "spider man homecoming");
  CHECK(FoldForCompletion("  AMÉLIE ").folded == "amélie");
  CHECK(FoldForCompletion("ｆｕｌｌ ﬁlm").folded == "full film");  // full-width letters, a ligature
  CHECK(FoldForCompletion("!!! … 🎬").folded.empty());
  CHECK(FoldForCompletion("שלום עולם").words.size() == 2);  // right to left
  const FoldedText text = FoldForCompletion("Up, up");
  REQUIRE(text.words.size() == 2);
  CHECK(text.words[1].begin == 4);
  CHECK(text.words[1].folded == 3);
  CHECK(!text.ended);
  CHECK(FoldForCompletion("up ").ended);
  CHECK(FoldForCompletion("Airplane!").ended);
}

TEST_CASE("scripts without spaces stay together, and each of their words is a beginning") {
  const FoldedText text = FoldForCompletion("東京物語");
  CHECK(text.folded == "東京物語");
  CHECK(text.words.size() >= 2);
}

TEST_CASE("what was typed tells whether its last word was ended") {
  CHECK(TypedOf("Star W").prefix == "star w");
  CHECK(TypedOf("star ").prefix == "star ");
  CHECK(TypedOf("star ").words == "star");
  CHECK(TypedOf("").empty);
  CHECK(!TypedOf("?!").empty);
  CHECK(TypedOf("?!").words.empty());
}

TEST_CASE("matches are places in code points, also where bytes and letters differ") {
  CHECK(MatchesIn("Star Wars", 0, 6) == Matches{{0, 4}, {5, 6}});
  CHECK(MatchesIn("Amélie & co", 0, 4) == Matches{{0, 3}});  // é is two bytes
  CHECK(MatchesIn("«Das» Ätherboot", 4, 7) == Matches{{6, 8}});
  CHECK(MatchesIn("ﬁlm", 0, 1) == Matches{{0, 3}});  // one letter became two: the word as a whole
  CHECK(MatchesIn("שלום עולם", 0, 6) == Matches{{0, 3}});
}

TEST_CASE("a snippet is safe to be put into a page") {
  const std::string text = "<b>R&B</b> \"Star\"";
  CHECK(MarkedText(text, Matches{{12, 15}}) == "&lt;b&gt;R&amp;B&lt;/b&gt; &quot;<mark>Sta</mark>r&quot;");
}

TEST_CASE("how many errors are taken for granted depends on the letters") {
  CHECK(ToleratedTypos("sta") == 0);
  CHECK(ToleratedTypos("star") == 1);
  CHECK(ToleratedTypos("star war") == 2);
  CHECK(ToleratedTypos("blade 2049") == 0);
  CHECK(ToleratedTypos(std::string(64, 'a')) == 0);
}

}  // namespace
}  // namespace waymark::tests
