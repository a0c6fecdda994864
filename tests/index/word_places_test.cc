// Title match, proximity and the search of titles against definitions worked out over whole documents.
#include <algorithm>
#include <cmath>
#include <set>

#include "tests/index/collection_pair.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

// Words by position; the query's stand side by side.
using Words = std::map<uint32_t, std::string>;

// The longest chain, tried from each word of the query and each place of it.
uint32_t LongestFrom(const std::vector<std::string>& query, size_t word, uint32_t position,
                     const Words& title) {
  uint32_t longest = 1;
  if (word + 1 == query.size()) return longest;
  for (uint32_t next = position + 1; next <= position + 3; ++next) {
    const auto at = title.find(next);
    if (at == title.end() || at->second != query[word + 1]) continue;
    longest = std::max(longest, 1 + LongestFrom(query, word + 1, next, title));
  }
  return longest;
}

double SlowTitleMatch(const std::vector<std::string>& query, const Words& title) {
  uint32_t longest = 0;
  for (size_t word = 0; word < query.size(); ++word) {
    for (const auto& [position, text] : title) {
      if (text == query[word]) longest = std::max(longest, LongestFrom(query, word, position, title));
    }
  }
  return std::min(1.0, 2.0 * longest / static_cast<double>(query.size() + title.size()));
}

double SlowProximity(const std::vector<std::string>& query, const std::vector<SlowField>& fields) {
  double sum = 0;
  for (size_t word = 1; word < query.size(); ++word) {
    double best = 0;
    for (const SlowField& field : fields) {
      for (const auto& [a, first] : field) {
        for (const auto& [b, second] : field) {
          if (first != query[word - 1] || second != query[word]) continue;
          best = std::max(best, 1.0 / (1 + std::abs(static_cast<double>(b) - a - 1)));
        }
      }
    }
    sum += best;
  }
  return sum / static_cast<double>(query.size() - 1);
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Candidate SignalsOf(const IndexedCollection& shop, const std::string& query, const std::string& id) {
  std::vector<Candidate> one(1);
  one[0].item = shop.Item(id);
  shop.index->Fill(query, absl::MakeSpan(one));
  return one[0];
}

TEST_CASE("how near a title is to the query, worked by hand") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}, {"text", 1}}, /*english=*/true);
  shop.PutAll({{"war", {{"title", "Star Wars"}, {"text", "a film"}}},
               {"year", {{"title", "Star Wars 1977"}}},
               {"trek", {{"title", "Star Trek"}, {"text", "wars of a star"}}},
               {"wish", {{"title", "When you wish upon a star"}}},
               {"ring", {{"title", "The Lord of the Rings"}}},
               {"game", {{"title", "WarGames"}}},
               {"more", {{"title", "WarGames once more"}, {"text", "war and games"}}}});
  shop.CatchUp();
  const auto match = [&](const std::string& query, const std::string& id) {
    return Get(SignalsOf(shop, query, id).signals, Signal::kKeywordTitleMatch);
  };
  const auto proximity = [&](const std::string& query, const std::string& id) {
    return Get(SignalsOf(shop, query, id).signals, Signal::kKeywordProximity);
  };
  CHECK(match("star wars", "war") == 1.f);
  CHECK(match("star wars", "year") == Approx(4. / 5));
  CHECK(match("star wars 1977", "war") == Approx(4. / 5));
  CHECK(match("star wars", "trek") == Approx(2. / 4));
  CHECK(match("wars star", "war") == Approx(2. / 4));  // the order counts
  CHECK(match("star star star", "war") == Approx(2. / 5));
  CHECK(match("lord of the rings", "ring") == 1.f);
  CHECK(match("lord rings", "ring") == 1.f);  // two stop words may stand between
  CHECK(match("stra wars", "war") == 1.f);    // a typing error
  CHECK(match("nothing", "war") == 0.f);
  CHECK(match("war games", "game") == 1.f);  // two words that the title writes as one
  CHECK(match("war games", "more") == Approx(4. / 6));
  CHECK(match("war games once", "more") == Approx(2. * 3 / (3 + 4)));
  CHECK(match("war games once more", "more") == 1.f);
  CHECK(match("more war games", "more") == Approx(2. * 2 / (3 + 4)));  // the order counts
  CHECK(proximity("war games", "game") == 1.f);
  CHECK(proximity("war games", "more") == 1.f);
  CHECK(proximity("star wars", "war") == 1.f);
  CHECK(proximity("wars star", "war") == Approx(1. / 3));   // 2 places from where it would stand
  CHECK(proximity("star wars", "trek") == Approx(1. / 5));  // at 3 and 0 of the text
  CHECK(proximity("star rings", "ring") == 0.f);
  CHECK(std::isnan(proximity("star", "war")));
}

TEST_CASE("a title of many thousand words is looked at in passing") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  std::string title;
  for (int i = 0; i < 100'000; ++i) title += "la ";
  shop.Put("song", {{"title", title}});
  shop.CatchUp();
  std::string query;
  for (int i = 0; i < 32; ++i) query += "la ";
  CHECK(Get(SignalsOf(shop, query, "song").signals, Signal::kKeywordTitleMatch) ==
        Approx(2. * 32 / (32 + 100'000)));
}

TEST_CASE("title match and proximity are those of the definitions") {
  CollectionPair pair(77);
  pair.Grow(4);
  int matched = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> query;
    for (size_t i = 0, n = 2 + pair.random() % 4; i < n; ++i) query.push_back(pair.Word());
    std::vector<Candidate> candidates;
    for (const auto& [item, fields] : pair.slow.items()) candidates.emplace_back().item = item;
    pair.shop.index->Fill(Joined(query), absl::MakeSpan(candidates), TypoTolerance::kOff);
    for (const Candidate& candidate : candidates) {
      const std::vector<SlowField>& fields = pair.slow.items().at(candidate.item);
      INFO(Joined(query) << " in item " << candidate.item);
      const float match = Get(candidate.signals, Signal::kKeywordTitleMatch);
      REQUIRE(match == Approx(SlowTitleMatch(query, fields[0])));
      REQUIRE(Get(candidate.signals, Signal::kKeywordProximity) == Approx(SlowProximity(query, fields)));
      matched += match > 0.5f;
    }
  }
  CHECK(matched > 20);
}

TEST_CASE(
    "the search of titles finds those that hold all words, nearest first, under filters and deletions") {
  CollectionPair pair(78);
  pair.Grow(4);
  int found_any = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> query;
    for (size_t i = 0, n = 1 + pair.random() % 3; i < n; ++i) query.push_back(pair.Word());
    KeywordQuery asked{.query = Joined(query), .typos = TypoTolerance::kOff};
    std::vector<ItemOrdinal> allowed;
    std::map<std::string, int> words;
    for (const std::string& word : query) ++words[word];
    struct Wanted {
      double match, score;
      ItemOrdinal item;
    };
    std::vector<Wanted> wanted;
    for (const auto& [item, fields] : pair.slow.items()) {
      const bool allows = pair.random() % 4 > 0;
      if (allows) allowed.push_back(item);
      std::set<std::string> held;
      for (const auto& [position, word] : fields[0]) held.insert(word);
      const bool all =
          std::all_of(query.begin(), query.end(), [&](const auto& w) { return held.contains(w); });
      if (!allows || !all) continue;
      wanted.push_back({SlowTitleMatch(query, fields[0]), pair.slow.Score(item, words), item});
    }
    asked.allowed = std::make_shared<const ItemSet>(ItemSet::Of(allowed));
    std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
      if (std::abs(a.match - b.match) > 1e-6) return a.match > b.match;
      return std::abs(a.score - b.score) > 1e-5 ? a.score > b.score : a.item < b.item;
    });
    const auto found = pair.shop.index->SearchTitles(asked, 5, Deadline::Never());
    INFO(Joined(query));
    REQUIRE(found.size() == std::min<size_t>(5, wanted.size()));
    for (size_t i = 0; i < found.size(); ++i) {
      REQUIRE(found[i].item == wanted[i].item);
      REQUIRE(found[i].score == Approx(wanted[i].score).margin(1e-4));
    }
    found_any += !found.empty();
  }
  CHECK(found_any > 40);
  // What the titles alone do not decide.
  for (const char* query : {"w0 -w1", "\"w0 w1\"", "w0 AND NOT w3", "", "-w0"}) {
    CHECK(pair.shop.index->SearchTitles({.query = query}, 5, Deadline::Never()).empty());
  }
}

TEST_CASE("the best titles are among the candidates when more items match than there is room for") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}, {"text", 1}});
  std::vector<std::pair<std::string, TextFields>> items;
  for (int i = 0; i < 300; ++i) {
    items.push_back({absl::StrCat("t", i), {{"title", "other"}, {"text", "star star star wars wars wars"}}});
  }
  items.push_back({"name",
                   {{"title", "Star Wars"},
                    {"text",
                     "a long text on many other things that make it lose by its length, much longer "
                     "than all of the others are, with nothing of what was asked for in it"}}});
  shop.PutAll(items);
  shop.CatchUp();
  RequestContext context;
  context.query = "star wars";
  const auto source = MakeKeywordSource(shop.index.get());
  const auto answer = source->Find(context, 100, Deadline::Never());
  REQUIRE(answer.ok());
  CHECK(answer->total == 301);
  REQUIRE(answer->items.size() == 100);
  CHECK(answer->items.back().item == shop.Item("name"));
  std::set<ItemOrdinal> distinct;
  for (const ScoredItem& item : answer->items) distinct.insert(item.item);
  CHECK(distinct.size() == 100);
  // Alone the score does not find it.
  const auto plain = shop.index->Search({.query = "star wars"}, 100, Deadline::Never());
  REQUIRE(plain.ok());
  for (const ScoredItem& item : plain->items) CHECK(item.item != shop.Item("name"));
}

}  // namespace
}  // namespace waymark::tests
