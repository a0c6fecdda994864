// What is shown of a query's words in items.
#include "index/highlighter.h"
#include "index/letters.h"
#include "index/snippet.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

std::vector<TextHighlight> Shown(const IndexedCollection& shop, const std::string& query,
                                 const std::string& id, const HighlightOptions& options = {}) {
  auto made = shop.index->MakeHighlighter(query, TypoTolerance::kAuto, options, Deadline::Never());
  INFO(made.status());
  REQUIRE(made.ok());
  const std::vector<ItemOrdinal> items = {shop.Item(id)};
  const auto records = shop.store->GetItems(shop.scope, items);
  REQUIRE(records[0].has_value());
  return (*made)->Highlight(*records[0]);
}

std::string Title(const IndexedCollection& shop, const std::string& query, const std::string& id) {
  const auto shown = Shown(shop, query, id);
  return shown.empty() ? "" : shown[0].snippet;
}

struct Films : IndexedCollection {
  Films() {
    Declare({{"title", 1}, {"text", 1}}, /*english=*/true);
    PutAll({{"a", {{"title", "Receiving <b> & generals"}, {"text", "He receives a general’s orders."}}},
            {"b", {{"title", "Amélie \U0001F600 of the ﬁlms"}, {"text", "Nothing"}}}});
    CatchUp();
  }
};

TEST_CASE("stems, beginnings and corrected errors are shown, as safe HTML") {
  Films shop;
  CHECK(Title(shop, "received", "a") == "<mark>Receiving</mark> &lt;b&gt; &amp; generals");
  CHECK(Title(shop, "general", "a") == "Receiving &lt;b&gt; &amp; <mark>generals</mark>");
  CHECK(Title(shop, "gen*", "a") == "Receiving &lt;b&gt; &amp; <mark>generals</mark>");
  CHECK(Title(shop, "generlas", "a") == "Receiving &lt;b&gt; &amp; <mark>generals</mark>");
  CHECK(Title(shop, "\"receiving generals\"", "a").substr(0, 22) == "<mark>Receiving</mark>");
  CHECK(Title(shop, "nothing -receiving", "a").empty());
}

TEST_CASE("places are code points of the text, with the word that was asked for") {
  Films shop;
  auto shown = Shown(shop, "films amélie", "b");
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].field == "title");
  // A m é l i e _ U+1F600 _ o f _ t h e _ ﬁ l m s: the ligature is one letter.
  CHECK(shown[0].matches == std::vector<HighlightMatch>{{0, 6, "amélie"}, {16, 20, "films"}});
  CHECK(shown[0].snippet == "<mark>Amélie</mark> \U0001F600 of the <mark>ﬁlms</mark>");
  shown = Shown(shop, "general", "a", {.fields = {"text"}, .offsets_only = true});
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].snippet.empty());
  CHECK(shown[0].matches.size() == 1);
  CHECK(shown[0].matches[0].begin == 14);
}

TEST_CASE("what cannot be shown is refused by name") {
  Films shop;
  const auto error = [&](const HighlightOptions& options) {
    return std::string(shop.index->MakeHighlighter("a", TypoTolerance::kAuto, options, Deadline::Never())
                           .status()
                           .message());
  };
  CHECK(error({.fields = {"titel"}}) ==
        "highlight.fields: 'titel' is not a searched field; those are: title, text");
  CHECK_THAT(error({.snippet_length = -1}), Catch::Contains("snippet_length: is -1"));
  CHECK_THAT(error({.snippet_length = 2001}), Catch::Contains("2000"));
  CHECK_THAT(error({.pre_tag = std::string(201, 'x')}), Catch::Contains("pre_tag: has 201 bytes"));
}

TEST_CASE("a snippet is the stretch with most of the words, cut between words") {
  const std::u32string text = U"one two three four five six seven eight nine ten";
  const auto snippet = [&](std::vector<TextMatch> matches, uint32_t length) {
    return MakeSnippet(text, matches, {"[", "]", length});
  };
  CHECK(snippet({{4, 7, 0}}, 100) == "one [two] three four five six seven eight nine ten");
  CHECK(snippet({{14, 18, 0}}, 20) == "…three [four] five…");
  CHECK(snippet({{0, 3, 0}, {4, 7, 0}, {34, 39, 0}, {40, 44, 1}}, 14) == "…[eight] [nine]…");
  CHECK(snippet({{8, 13, 0}}, 3) == "…[thr]…");
  const TextMatch quote{1, 2, 0};
  CHECK(MakeSnippet(U"<\"'&>", {&quote, 1}, {}) == "&lt;<mark>&quot;</mark>&#39;&amp;&gt;");
}

TEST_CASE("of a stretch of any length, at most so many letters are shown") {
  const std::u32string text = Letters("aa bb  cc dd éé  ff gg hh aa ii jj kk ll");
  for (uint32_t length = 1; length < 45; ++length) {
    for (uint32_t begin : {0u, 3u, 7u, 26u, 38u}) {
      const TextMatch match{begin, begin + 2, 0};
      const std::string shown = MakeSnippet(text, {&match, 1}, {"", "", length});
      size_t letters = 0;
      for (char32_t letter : Letters(shown)) letters += letter != U'…';
      INFO(length << " from " << begin << ": " << shown);
      REQUIRE(letters <= length);
      REQUIRE(letters >= std::min(length, 2u));
    }
  }
}

}  // namespace
}  // namespace waymark::tests
