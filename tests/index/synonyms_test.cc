// Synonyms: which words of a query they widen, and what searches make of them, against brute force.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "index/highlighter.h"
#include "index/query_parser.h"
#include "tests/index/collection_pair.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Words = std::vector<std::string>;
const Analyzer kPlain{{StemmerKind::kNone, false}};
const Analyzer kEnglish{{StemmerKind::kPorter, true}};

struct Texts {
  Words words, from, to;
  std::string language = "";
};

std::shared_ptr<const SynonymView> View(const std::vector<Texts>& groups, const Analyzer& analyzer = kPlain,
                                        const std::string& locale = "") {
  std::vector<std::shared_ptr<const SynonymGroup>> made;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Texts& texts = groups[i];
    made.push_back(MakeSynonymGroup(absl::StrCat("g", i), texts.language, {texts.words, texts.from, texts.to},
                                    analyzer));
  }
  return std::make_shared<const SynonymView>(SynonymView{SynonymTable().With({}, made), locale});
}

// «typed = other | other; ...», of each place that is widened.
std::string Widened(const std::string& query, const SynonymView& view, const Analyzer& analyzer = kPlain) {
  std::string text;
  for (const QuerySynonyms& place : ParseQuery(query, analyzer, false, &view).synonyms) {
    Words others;
    for (const auto& other : place.others) others.push_back(other.phrase->text);
    absl::StrAppend(&text, text.empty() ? "" : "; ", place.text, " = ", absl::StrJoin(others, " | "));
  }
  return text;
}

TEST_CASE("the longest run of plain words that synonyms know is widened") {
  const auto view = View({{{"sneakers", "trainers", "running shoes"}},
                          {{}, {"phone"}, {"iphone", "smart phone"}},
                          {{"running", "jogging"}},
                          {{"shoes", "footwear"}}});
  CHECK(Widened("sneakers", *view) == "sneakers = trainers | running shoes");
  CHECK(Widened("cheap Running  SHOES now", *view) == "Running SHOES = sneakers | trainers");
  CHECK(Widened("running", *view) == "running = jogging");
  CHECK(Widened("running sneakers", *view) == "running = jogging; sneakers = trainers | running shoes");
  CHECK(Widened("phone", *view) == "phone = iphone | smart phone");
  CHECK(Widened("iphone", *view).empty());
  CHECK(Widened("smart phone", *view) == "phone = iphone | smart phone");
  // Words that an operator takes as its operands stand alone.
  CHECK(Widened("running AND shoes", *view) == "running = jogging; shoes = footwear");
  CHECK(Widened("running shoes OR boots", *view) == "running = jogging; shoes = footwear");
  CHECK(Widened("(running shoes) boots", *view) == "running shoes = sneakers | trainers");
  CHECK(Widened("+running shoes", *view) == "running = jogging; shoes = footwear");
}

TEST_CASE("phrases, marked and excluded words are taken as they are") {
  const auto view = View({{{"running", "jogging"}}, {{"running shoes", "sneakers"}}});
  for (const char* query :
       {"\"running\"", "\"running shoes\"", "-running", "NOT running", "runn* shoes", "running~", "running~0",
        "-(running shoes)", "NOT (a running shoes)", "-(a +(running))"}) {
    INFO(query);
    CHECK(Widened(query, *view).empty());
  }
  CHECK(Widened("a -(b running) running", *view) == "running = jogging");
}

TEST_CASE("words are compared by stems, without stop words") {
  const auto view = View({{{"lord of the rings", "LOTR"}}, {{"car", "automobiles"}}}, kEnglish);
  CHECK(Widened("lords ring", *view, kEnglish) == "lords ring = LOTR");
  CHECK(Widened("The Lord of the Rings", *view, kEnglish) == "Lord of the Rings = LOTR");
  CHECK(Widened("cars", *view, kEnglish) == "cars = automobiles");
  CHECK(Widened("automobile", *view, kEnglish) == "automobile = car");
}

TEST_CASE("synonyms of a language count in its locales") {
  const std::vector<Texts> groups = {{{"handy", "phone"}, {}, {}, "de"},
                                     {{"lift", "elevator"}, {}, {}, "en-GB"}};
  CHECK(Widened("handy lift", *View(groups)).empty());
  CHECK(Widened("handy lift", *View(groups, kPlain, "de-AT")) == "handy = phone");
  CHECK(Widened("handy lift", *View(groups, kPlain, "DE_at")) == "handy = phone");
  CHECK(Widened("handy lift", *View(groups, kPlain, "en-gb")) == "lift = elevator");
  CHECK(Widened("handy lift", *View(groups, kPlain, "en")).empty());
  CHECK(Widened("handy lift", *View(groups, kPlain, "den")).empty());
}

TEST_CASE("what widened a query is told by group") {
  const auto view = View({{{"a", "b"}}, {{}, {"a"}, {"b", "c d"}}});
  const auto used = SynonymsUsed(ParseQuery("x A", kPlain, false, view.get()));
  CHECK(used == std::vector<SynonymUse>{{"g0", "A", {"b"}}, {"g1", "A", {"c d"}}});
}

TEST_CASE("a table that is changed step by step answers as a map of sequences") {
  struct Value {
    std::string id;
  };
  std::mt19937 random(5);
  SequenceMap<Value> map;
  std::multimap<Words, std::string> expected;
  const auto sequence = [&] {
    Words words;
    for (unsigned n = 1 + random() % 3; n > 0; --n) words.push_back(absl::StrCat("t", random() % 6));
    return words;
  };
  for (int round = 0; round < 400; ++round) {
    SequenceMap<Value>::Edit edit(map);
    const SequenceMap<Value> before = map;
    for (int n = 0; n < 5; ++n) {
      if (!expected.empty() && random() % 2 == 0) {
        auto gone = std::next(expected.begin(), static_cast<long>(random() % expected.size()));
        edit.Remove(gone->first, gone->second);
        expected.erase(gone);
      } else {
        const Words words = sequence();
        const std::string id = absl::StrCat("v", round, "-", n);
        edit.Add(words, std::make_shared<Value>(Value{id}));
        expected.emplace(words, id);
      }
    }
    map = edit.Finish();
    const Words asked = sequence();
    SequenceMap<Value>::Walk walk(map);
    for (size_t end = 1; end <= asked.size(); ++end) {
      const Words prefix(asked.begin(), asked.begin() + static_cast<long>(end));
      std::set<std::string> here;
      bool longer = false;
      for (const auto& [words, id] : expected) {
        if (words == prefix) here.insert(id);
        longer = longer || (words.size() > end && std::equal(prefix.begin(), prefix.end(), words.begin()));
      }
      const bool known = walk.Step(asked[end - 1]);
      REQUIRE(known == (!here.empty() || longer));
      if (!known) break;
      std::set<std::string> found;
      for (const auto& value : walk.values()) found.insert(value->id);
      REQUIRE(found == here);
      REQUIRE(walk.may_go_on() == longer);
    }
  }
}

// Three films of equal length: a synonym counts for nine tenths of the word that was typed.
TEST_CASE("an item that holds a synonym scores nine tenths of one that holds the word") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.PutAll({{"a", {{"title", "sneakers red"}}},
               {"b", {{"title", "trainers red"}}},
               {"c", {{"title", "sneakers trainers"}}},
               {"d", {{"title", "boots blue"}}}});
  shop.CatchUp();
  KeywordQuery query{"sneakers"};
  CHECK(shop.Find(query).total == 2);
  query.synonyms = View({{{"sneakers", "trainers"}}});
  const KeywordHits hits = shop.Find(query);
  REQUIRE(hits.items.size() == 3);
  CHECK(hits.total == 3);
  // N 4, n 2: ln(1 + 2.5 / 2.5) = ln 2; tf 1 and equal lengths: 1 / (1 + 1.2).
  const double typed = std::log(2.0) / 2.2;
  CHECK(hits.items[0].item == shop.Item("a"));
  CHECK(hits.items[1].item == shop.Item("c"));
  CHECK(hits.items[2].item == shop.Item("b"));
  CHECK(std::abs(hits.items[0].score - typed) < 1e-6);
  CHECK(std::abs(hits.items[1].score - typed) < 1e-6);  // the best of both, not their sum
  CHECK(std::abs(hits.items[2].score - 0.9 * typed) < 1e-6);
}

TEST_CASE("a word that nothing holds counts for what its most frequent synonym does") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.PutAll({{"a", {{"title", "trainers red"}}},
               {"b", {{"title", "pumps red"}}},
               {"c", {{"title", "pumps blue"}}},
               {"d", {{"title", "hat blue"}}}});
  shop.CatchUp();
  KeywordQuery query{"plimsolls"};
  query.synonyms = View({{{"plimsolls", "trainers", "pumps"}}});
  const KeywordHits hits = shop.Find(query);
  REQUIRE(hits.items.size() == 3);
  const double expected = 0.9 * std::log(2.0) / 2.2;  // pumps: N 4, n 2
  for (const ScoredItem& hit : hits.items) CHECK(std::abs(hit.score - expected) < 1e-6);
}

// Brute force over a collection of random words.
struct Slow {
  const CollectionPair& pair;
  std::map<Words, std::set<Words>> others;  // by what is typed

  double Idf(const std::string& word) const {
    double holders = 0;
    for (const auto& [item, fields] : pair.slow.items()) holders += pair.slow.Holds(item, word);
    const double all = static_cast<double>(pair.slow.items().size());
    return holders == 0 ? 0 : std::log(1 + (all - holders + 0.5) / (holders + 0.5));
  }
  double Idf(const Words& phrase) const {
    double sum = 0;
    for (const std::string& word : phrase) sum += Idf(word);
    return sum;
  }
  bool Holds(ItemOrdinal item, const Words& phrase) const {
    return phrase.size() == 1 ? pair.slow.Holds(item, phrase[0]) : pair.slow.HoldsPhrase(item, phrase);
  }
  bool Somewhere(const Words& phrase) const {
    for (const auto& [item, fields] : pair.slow.items()) {
      if (Holds(item, phrase)) return true;
    }
    return false;
  }
  // What the phrase would score with an idf of 1.
  double Part(ItemOrdinal item, const Words& phrase) const {
    if (!Holds(item, phrase)) return 0;
    return (phrase.size() == 1 ? pair.slow.Score(item, {{phrase[0], 1}})
                               : pair.slow.Score(item, {}, {phrase})) /
           Idf(phrase);
  }

  struct Answer {
    bool matches = false;
    double score = 0;
    size_t held = 0;  // words of the query, each once
  };
  Answer Ask(ItemOrdinal item, const Words& query, bool all) const {
    Answer answer{all, 0, 0};
    const auto place = [&](bool matched, double score) {
      answer.matches = all ? answer.matches && matched : answer.matches || matched;
      answer.score += score;
    };
    for (size_t i = 0; i < query.size();) {
      size_t length = std::min<size_t>(3, query.size() - i);
      const auto from = query.begin() + static_cast<long>(i);
      while (length > 0 && !others.contains(Words(from, from + static_cast<long>(length)))) --length;
      if (length == 0) {
        place(pair.slow.Holds(item, query[i]), pair.slow.Score(item, {{query[i], 1}}));
        ++i;
        continue;
      }
      const Words typed(from, from + static_cast<long>(length));
      double sum = 0;
      size_t held = 0;
      for (const std::string& word : typed) {
        sum += pair.slow.Score(item, {{word, 1}});
        held += pair.slow.Holds(item, word);
      }
      double counts = Idf(typed);
      if (counts == 0) {
        counts = 1e9;
        for (const Words& other : others.at(typed)) {
          if (Somewhere(other)) counts = std::min(counts, Idf(other));
        }
      }
      bool matched = all ? held == typed.size() : held > 0;
      double best = sum;
      for (const Words& other : others.at(typed)) {
        if (!Holds(item, other)) continue;
        matched = true;
        best = std::max(best, 0.9 * counts * Part(item, other));
      }
      place(matched, best);
      i += length;
    }
    return answer;
  }
};

TEST_CASE("searches with synonyms find and score what brute force does") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    CollectionPair pair(seed);
    pair.Grow(4);
    Slow slow{pair, {}};
    std::vector<Texts> groups;
    const auto phrase = [&] {
      Words words = {pair.Word()};
      for (unsigned n = pair.random() % 3; n > 0; --n) words.push_back(pair.Word());
      return words;
    };
    for (int g = 0; g < 25; ++g) {
      Texts texts;
      std::vector<Words> typed = {phrase(), phrase()}, to = {phrase()};
      if (typed[0] == typed[1]) continue;
      const bool two_way = g % 2 == 0;
      for (const Words& words : typed)
        (two_way ? texts.words : texts.from).push_back(absl::StrJoin(words, " "));
      if (!two_way) texts.to.push_back(absl::StrJoin(to[0], " "));
      groups.push_back(texts);
      for (const Words& from : typed) {
        for (const Words& other : two_way ? typed : to) {
          if (other != from) slow.others[from].insert(other);
        }
      }
    }
    const auto view = View(groups);
    int widened = 0, by_synonym = 0;
    for (int n = 0; n < 150; ++n) {
      Words query;
      for (unsigned words = 1 + pair.random() % 4; words > 0; --words) query.push_back(pair.Word());
      if (n % 2 == 0) query = slow.others.empty() ? query : std::next(slow.others.begin(), n % 20)->first;
      if (n % 4 == 0) query.push_back(pair.Word());
      const bool all = n % 3 == 0;
      KeywordQuery asked{absl::StrJoin(query, " ")};
      INFO(asked.query << (all ? " (all)" : "") << " seed " << seed);
      asked.match_all = all;
      asked.synonyms = view;
      const KeywordHits hits = pair.shop.Find(asked, 1000);
      std::map<ItemOrdinal, double> found;
      for (const ScoredItem& hit : hits.items) found[hit.item] = hit.score;
      size_t expected = 0;
      for (const auto& [item, fields] : pair.slow.items()) {
        const Slow::Answer answer = slow.Ask(item, query, all);
        REQUIRE(found.contains(item) == answer.matches);
        if (!answer.matches) continue;
        ++expected;
        REQUIRE(std::abs(found.at(item) - answer.score) < 1e-4);
        // The signals of given items say the same.
        std::vector<Candidate> one(1);
        one[0].item = item;
        pair.shop.index->Fill(asked.query, absl::MakeSpan(one), TypoTolerance::kAuto, view.get());
        REQUIRE(Get(one[0].signals, Signal::kKeywordScore) == static_cast<float>(found.at(item)));
        by_synonym += pair.slow.Score(item, {{query[0], 1}}) == 0;
      }
      REQUIRE(hits.total == static_cast<int64_t>(expected));
      widened += !ParseQuery(asked.query, kPlain, all, view.get()).synonyms.empty();
    }
    CHECK(widened > 50);
    CHECK(by_synonym > 100);
  }
}

TEST_CASE("an item that holds a synonym covers the typed words") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}, {"text", 1}});
  shop.PutAll({{"a", {{"title", "sneakers red"}, {"text", "x"}}},
               {"b", {{"title", "hat"}, {"text", "running shoes"}}}});
  shop.CatchUp();
  const auto view = View({{{"sneakers", "running shoes"}}});
  const auto signal = [&](const char* query, const char* id, Signal which) {
    std::vector<Candidate> one(1);
    one[0].item = shop.Item(id);
    shop.index->Fill(query, absl::MakeSpan(one), TypoTolerance::kAuto, view.get());
    return Get(one[0].signals, which);
  };
  CHECK(signal("running shoes", "a", Signal::kKeywordCoverage) == 1);
  CHECK(signal("running shoes", "a", Signal::kKeywordTitle) == 1);
  CHECK(signal("running shoes blue", "a", Signal::kKeywordCoverage) == 2 / 3.0f);
  CHECK(signal("sneakers", "b", Signal::kKeywordCoverage) == 1);
  CHECK(signal("sneakers", "b", Signal::kKeywordTitle) == 0);
  CHECK(signal("sneakers sneakers hat", "b", Signal::kKeywordCoverage) == 1);
}

TEST_CASE("words that synonyms know are not taken for misspelled, and are shown where items hold them") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}}, /*english=*/true);
  std::vector<std::pair<std::string, TextFields>> items = {{"s", {{"title", "Running shoes for sale"}}}};
  for (int i = 0; i < 200; ++i) items.push_back({absl::StrCat("i", i), {{"title", "speakers"}}});
  shop.PutAll(items);
  shop.CatchUp();
  // Nothing holds «sneakers», and «speakers» is one error away.
  KeywordQuery query{"sneakers"};
  CHECK(shop.Find(query).total == 200);
  CHECK(shop.index->CorrectQuery("sneakers", TypoTolerance::kAuto, Deadline::Never()) == "speakers");
  const auto view = View({{{"sneakers", "running shoes"}}}, kEnglish);
  query.synonyms = view;
  CHECK(shop.Find(query).total == 1);
  CHECK(shop.index->CorrectQuery("sneakers", TypoTolerance::kAuto, Deadline::Never(), view.get()).empty());
  auto shown =
      shop.index->MakeHighlighter("sneakers", TypoTolerance::kAuto, {}, Deadline::Never(), view.get());
  REQUIRE(shown.ok());
  const std::vector<ItemOrdinal> one = {shop.Item("s")};
  const auto highlights = (*shown)->Highlight(*shop.store->GetItems(shop.scope, one)[0]);
  REQUIRE(highlights.size() == 1);
  CHECK(highlights[0].snippet == "<mark>Running</mark> <mark>shoes</mark> for sale");
  CHECK(highlights[0].matches[0].word == "sneakers");
}

}  // namespace
}  // namespace waymark::tests
