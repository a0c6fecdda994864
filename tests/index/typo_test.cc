// Typing errors: the automaton and the walk against edit distances worked out here, and what searches make of
// them.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "index/letters.h"
#include "index/query_parser.h"
#include "index/term_walk.h"
#include "index/word_variants.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

// By its definition, without a table: the first letters are the same, or one edit changes them.
int SlowDistance(std::u32string_view a, std::u32string_view b, int most) {
  if (most < 0) return 100;
  if (a.empty() || b.empty()) return static_cast<int>(a.size() + b.size());
  if (a[0] == b[0]) return SlowDistance(a.substr(1), b.substr(1), most);
  int best = 1 + std::min({SlowDistance(a.substr(1), b, most - 1), SlowDistance(a, b.substr(1), most - 1),
                           SlowDistance(a.substr(1), b.substr(1), most - 1)});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    best = std::min(best, 1 + SlowDistance(a.substr(2), b.substr(2), most - 1));
  }
  return best;
}

std::string Utf8(std::u32string_view letters) {
  std::string text;
  for (char32_t letter : letters) AppendUtf8(letter, &text);
  return text;
}

TEST_CASE("edits are counted as people make them") {
  const auto distance = [](const char* a, const char* b) { return EditDistance(Letters(a), Letters(b)); };
  CHECK(distance("recieve", "receive") == 1);  // neighbours change places
  CHECK(distance("recive", "receive") == 1);
  CHECK(distance("", "abc") == 3);
  CHECK(distance("kitten", "sitting") == 3);
  CHECK(distance("ca", "abc") == 3);  // no letter is edited twice
  CHECK(distance("amélie", "amelie") == 1);
}

TEST_CASE("the automaton takes what is within its edits, and knows which letters lead on") {
  std::mt19937 random(3);
  const std::u32string alphabet = U"abcé";
  const auto word = [&](size_t longest) {
    std::u32string letters;
    for (size_t n = random() % (longest + 1); n > 0; --n) letters += alphabet[random() % alphabet.size()];
    return letters;
  };
  for (int round = 0; round < 3000; ++round) {
    std::u32string wanted = word(8);
    if (wanted.empty()) wanted = U"a";
    const int most = 1 + round % 2;
    const TypoAutomaton automaton(wanted, most);
    const std::u32string other = word(9);
    TypoAutomaton::Path path = automaton.Start();
    bool led_on = true;
    for (char32_t letter : other) {
      const auto next = automaton.NextLetter(path, letter);
      led_on = led_on && next && *next == letter;
      path = automaton.Step(path, letter);
    }
    const int expected = SlowDistance(wanted, other, most);
    INFO(Utf8(wanted) << " and " << Utf8(other));
    if (expected <= most) {
      REQUIRE(automaton.Edits(path.state) == expected);
      REQUIRE(led_on);
    } else {
      REQUIRE(automaton.Edits(path.state) > most);
    }
    REQUIRE(EditDistance(wanted, other) == SlowDistance(wanted, other, 20));
  }
}

// Segments of given terms; each term is in as many documents as asked.
struct Dictionary {
  std::vector<SegmentView> segments;

  void Add(const std::map<std::string, int>& terms) {
    DocNumber documents = 1;
    for (const auto& [term, count] : terms) documents = std::max<DocNumber>(documents, count);
    std::vector<ItemOrdinal> items(documents);
    for (DocNumber doc = 0; doc < documents; ++doc) items[doc] = doc;
    CompiledSegmentBuilder builder("_0", {"f"}, items);
    for (const auto& [term, count] : terms) {
      builder.StartTerm(term);
      for (int doc = 0; doc < count; ++doc) builder.Add(static_cast<DocNumber>(doc), 0, {1});
    }
    SegmentView view;
    view.number = segments.size();
    view.postings = builder.Finish();
    view.live = std::make_shared<LiveDocuments>(view.postings, [](DocNumber) { return false; });
    segments.push_back(std::move(view));
  }
};

TEST_CASE("the walk finds what a look at every term finds, over several segments") {
  std::mt19937 random(11);
  const std::u32string alphabet = U"abdeéo\x4E2D\U0001F600";
  for (int round = 0; round < 40; ++round) {
    Dictionary dictionary;
    std::map<std::string, int> total;
    for (int s = 0; s < 1 + round % 3; ++s) {
      std::map<std::string, int> terms;
      for (int i = 0; i < 400; ++i) {
        std::u32string letters;
        for (size_t n = 1 + random() % 9; n > 0; --n) letters += alphabet[random() % alphabet.size()];
        terms[Utf8(letters)] = 1 + static_cast<int>(random() % 9);
      }
      for (const auto& [term, count] : terms) total[term] += count;
      dictionary.Add(terms);
    }
    for (int query = 0; query < 40; ++query) {
      std::u32string wanted;
      for (size_t n = 1 + random() % 10; n > 0; --n) wanted += alphabet[random() % alphabet.size()];
      const TypoOptions options{1 + query % 2, query % 5 != 0, query % 3 == 0 ? size_t{7} : size_t{10000}};
      std::vector<WordVariant> expected;
      for (const auto& [term, count] : total) {
        const std::u32string letters = Letters(term);
        const int edits = SlowDistance(wanted, letters, options.max_edits);
        if (edits > options.max_edits || (!options.may_change_first && letters[0] != wanted[0])) continue;
        expected.push_back({term, edits, count});
      }
      std::sort(expected.begin(), expected.end(), [](const WordVariant& a, const WordVariant& b) {
        if (a.edits != b.edits) return a.edits < b.edits;
        return a.documents != b.documents ? a.documents > b.documents : a.term < b.term;
      });
      expected.resize(std::min(expected.size(), options.limit));
      const WordVariants found = FindTypos(dictionary.segments, Utf8(wanted), options, Deadline::Never());
      INFO(Utf8(wanted) << " within " << options.max_edits);
      REQUIRE(found.complete);
      REQUIRE((found.words == expected));

      const std::string prefix = Utf8(wanted).substr(0, wanted.size() > 2 ? 2 : 1);
      std::vector<WordVariant> begun;
      for (const auto& [term, count] : total) {
        if (term.starts_with(prefix)) begun.push_back({term, 0, count});
      }
      std::stable_sort(begun.begin(), begun.end(),
                       [](const auto& a, const auto& b) { return a.documents > b.documents; });
      begun.resize(std::min(begun.size(), size_t{1 + query % 9u}));
      REQUIRE(
          (FindCompletions(dictionary.segments, prefix, 1 + query % 9u, Deadline::Never()).words == begun));
    }
  }
}

TEST_CASE("one letter before a million words finds the first of them, and no longer than the deadline") {
  // All are in one document, but for two; the second segment has every 1000th, too.
  Dictionary dictionary;
  std::map<std::string, int> terms, few;
  for (int i = 0; i < 1'000'000; ++i) {
    terms.emplace_hint(terms.end(), absl::StrCat("w", absl::Dec(i, absl::kZeroPad6)), 1);
    if (i % 1000 == 999) few.emplace_hint(few.end(), terms.rbegin()->first, 1);
  }
  terms["w777777"] = 3;
  terms["w123456"] = 2;
  dictionary.Add(terms);
  const auto words = [](const WordVariants& found) {
    std::vector<std::string> texts;
    for (const WordVariant& word : found.words) texts.push_back(absl::StrCat(word.term, " ", word.documents));
    return texts;
  };
  CHECK(words(FindCompletions(dictionary.segments, "w", 4, Deadline::Never())) ==
        std::vector<std::string>{"w777777 3", "w123456 2", "w000000 1", "w000001 1"});
  dictionary.Add(few);
  CHECK(words(FindCompletions(dictionary.segments, "w", 4, Deadline::Never())) ==
        std::vector<std::string>{"w777777 3", "w000999 2", "w001999 2", "w002999 2"});
  CHECK(words(FindCompletions(dictionary.segments, "w12345", 3, Deadline::Never())) ==
        std::vector<std::string>{"w123456 2", "w123450 1", "w123451 1"});
  FixedClock clock(absl::UnixEpoch());
  CHECK_FALSE(
      FindCompletions(dictionary.segments, "w", 4, Deadline::After(-absl::Seconds(1), &clock)).complete);
}

TEST_CASE("longer words may have more errors, words with digits none") {
  CHECK(ToleratedEdits("cat") == 0);
  CHECK(ToleratedEdits("star") == 1);
  CHECK(ToleratedEdits("été") == 0);  // letters, not bytes
  CHECK(ToleratedEdits("soldier") == 1);
  CHECK(ToleratedEdits("soldiers") == 2);
  CHECK(ToleratedEdits("iphone15") == 0);
  CHECK(ToleratedEdits(std::string(63, 'a')) == 2);
  CHECK(ToleratedEdits(std::string(64, 'a')) == 0);
  CHECK_FALSE(ToleratesOtherFirst("star"));
  CHECK(ToleratesOtherFirst("stars"));
}

struct Shop : IndexedCollection {
  Shop() {
    Declare({{"title", 1}});
    PutAll({{"wars", {{"title", "star wars"}}},
            {"trek", {{"title", "star trek generations"}}},
            {"phone", {{"title", "iphone15 with screen"}}},
            {"general", {{"title", "the general"}}}});
    CatchUp();
  }
  std::vector<std::string> Off(const std::string& query) const {
    std::vector<ItemOrdinal> items;
    for (const auto& hit : Find({.query = query, .typos = TypoTolerance::kOff}, 10).items) {
      items.push_back(hit.item);
    }
    return store->ItemIds(scope, items);
  }
  std::string Corrected(const std::string& query) const {
    return index->CorrectQuery(query, TypoTolerance::kAuto, Deadline::Never());
  }
};

using Ids = std::vector<std::string>;

TEST_CASE("a word that no item has finds what is written almost the same") {
  Shop shop;
  CHECK(shop.Search("wasr") == Ids{"wars"});
  CHECK(shop.Search("tars") == Ids{});  // of four letters, the first is not taken for wrong
  CHECK(shop.Search("genertions") == Ids{"trek"});
  CHECK(shop.Search("gneertions") == Ids{"trek"});  // two errors in ten letters
  CHECK(shop.Search("zcreen") == Ids{"phone"});
  CHECK(shop.Search("iphone16") == Ids{});
  CHECK(shop.Search("\"wasr\"") == Ids{});  // quotation marks: as it is
  CHECK(shop.Search("star -wasr").size() == 2);
  CHECK(shop.Search("+star +trke") == Ids{"trek"});
  CHECK(shop.Search("star trke", 10, /*match_all=*/true) == Ids{"trek"});
  CHECK(shop.Off("wasr") == Ids{});
}

TEST_CASE("a query asks for errors and beginnings by name, typo tolerance or not") {
  Shop shop;
  CHECK(shop.Off("wra~") == Ids{});  // two away
  CHECK(shop.Off("wra~2") == Ids{"wars"});
  CHECK(shop.Off("war~") == Ids{"wars"});
  CHECK(shop.Off("war~0") == Ids{});
  CHECK(shop.Search("war~0") == Ids{});
  CHECK(shop.Off("iphone16~") == Ids{"phone"});
  CHECK(shop.Off("gen*") == Ids{"general", "trek"});  // the shorter title first
  CHECK(shop.Off("star -tre*") == Ids{"wars"});
  CHECK(shop.Off("+star +gen*") == Ids{"trek"});
  CHECK(shop.Off("star-gen*").size() == 3);
  CHECK(shop.Off("+star-gen*") == Ids{"trek"});
  CHECK(shop.Off("*") == Ids{});
  CHECK(shop.Off("~") == Ids{});
}

TEST_CASE("what was typed comes first, then what has fewer errors") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.PutAll({{"two", {{"title", "generatien"}}},
               {"one", {{"title", "generatiom"}}},
               {"exact", {{"title", "generatio and some more words that make it long"}}}});
  shop.CatchUp();
  CHECK(shop.Search("generatio~2") == Ids{"exact", "one", "two"});
}

TEST_CASE("a document that has several of the words counts the best only") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.PutAll({{"both", {{"title", "color colour"}}}, {"one", {{"title", "colour paint"}}}});
  shop.CatchUp();
  const KeywordHits hits = shop.Find({.query = "colo*"}, 10);
  REQUIRE(hits.items.size() == 2);
  CHECK(hits.items[0].score == hits.items[1].score);
  CHECK(hits.total == 2);
}

TEST_CASE("a rare word is corrected only where a far more frequent one stands beside it") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  std::vector<std::pair<std::string, TextFields>> items;
  for (int i = 0; i < 150; ++i) items.push_back({absl::StrCat("i", i), {{"title", "hotel"}}});
  items.push_back({"rare", {{"title", "hotek"}}});
  shop.PutAll(items);
  shop.CatchUp();
  const KeywordHits hits = shop.Find({.query = "hotek"}, 10);
  CHECK(hits.total == 151);
  CHECK(hits.items[0].item == shop.Item("rare"));
  CHECK(shop.Search("hotel", 200).size() == 150);
  shop.Put("rare2", {{"title", "hotek"}});
  shop.CatchUp();
  CHECK(shop.Search("hotek").size() == 2);  // 150 are not 100 times 2
}

TEST_CASE("signals are what the search found, for corrected words too") {
  Shop shop;
  const KeywordHits hits = shop.Find({.query = "star wasr"}, 10);
  REQUIRE(hits.items.size() == 2);
  const SignalValues signals = shop.Signals("star wasr", "wars");
  CHECK(Get(signals, Signal::kKeywordScore) == hits.items[0].score);
  CHECK(Get(signals, Signal::kKeywordCoverage) == 1);
}

TEST_CASE("did you mean: misspelled words are written as items write them") {
  Shop shop;
  CHECK(shop.Corrected("Star Wasr") == "Star wars");
  CHECK(shop.Corrected("star wars").empty());
  CHECK(shop.Corrected("+\"star\" (trke)") == "+\"star\" (trek)");
  IndexedCollection stemmed;
  stemmed.Declare({{"title", 1}}, /*english=*/true);
  stemmed.Put("a", {{"title", "Receiving generals"}});
  stemmed.CatchUp();
  CHECK(stemmed.index->CorrectQuery("the recieving generlas!", TypoTolerance::kAuto, Deadline::Never()) ==
        "the receiving generals!");
}

TEST_CASE("deleted items are not what is meant") {
  Shop shop;
  shop.Delete("wars");
  shop.CatchUp();
  CHECK(shop.Search("wasr") == Ids{});
  CHECK(shop.Corrected("wasr").empty());
}

TEST_CASE("words of any length are taken") {
  Shop shop;
  for (size_t length : {60, 63, 64, 255, 3000}) {
    CHECK(shop.Search(std::string(length, 'x')).empty());
    CHECK(shop.Search(std::string(length, 'x') + "~2").empty());
    CHECK(shop.Search(std::string(length, 'x') + "*").empty());
  }
}

}  // namespace
}  // namespace waymark::tests
