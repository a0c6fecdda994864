#include "index/keyword_index.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/index/collection_pair.h"
#include "tests/index/indexed_collection.h"
#include "tests/index/slow_index.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Catch::Matchers::WithinAbs;
using Ids = std::vector<std::string>;

TEST_CASE("the item that has the words in fewer words comes first") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}, {"text", 1}});
  shop.Put("long", {{"title", "star"}, {"text", "a story of wars and of many other things that happen"}});
  shop.Put("short", {{"title", "star wars"}});
  shop.Put("other", {{"title", "the third man"}});
  shop.CatchUp();
  CHECK(shop.Search("star wars") == Ids{"short", "long"});
  CHECK(shop.Search("third") == Ids{"other"});
  CHECK(shop.Search("nothing").empty());
}

TEST_CASE("scores are BM25 as worked by hand") {
  // Two documents of 2 and 4 words, average 3. "b" is in the first only: idf = ln(1 + (2 - 1 + .5)/(1 + .5))
  // = ln 2. tf 1, norm = 1.2 * (.25 + .75 * 2/3) = .9: score = ln 2 / 1.9 = .364814.
  IndexedCollection shop;
  shop.Declare({{"text", 1}});
  shop.Put("1", {{"text", "a b"}});
  shop.Put("2", {{"text", "a c c c"}});
  shop.CatchUp();
  const KeywordHits hits = shop.Find({.query = "b"});
  REQUIRE(hits.items.size() == 1);
  CHECK_THAT(hits.items[0].score, WithinAbs(0.364814, 1e-6));
  CHECK(hits.total == 1);
  CHECK(hits.total_exact);
  CHECK(hits.complete);
}

void CheckScores(const KeywordHits& hits, const std::map<ItemOrdinal, double>& expected) {
  REQUIRE(hits.total == static_cast<int64_t>(expected.size()));
  REQUIRE(hits.items.size() == expected.size());
  for (size_t i = 0; i < hits.items.size(); ++i) {
    const auto found = expected.find(hits.items[i].item);
    REQUIRE(found != expected.end());
    REQUIRE(std::abs(hits.items[i].score - found->second) < 1e-4 * std::max(1.0, found->second));
    if (i > 0) {
      const bool ordered =
          hits.items[i - 1].score > hits.items[i].score ||
          (hits.items[i - 1].score == hits.items[i].score && hits.items[i - 1].item < hits.items[i].item);
      REQUIRE(ordered);
    }
  }
}

TEST_CASE("scores equal brute force over segments with updates and deletions") {
  CollectionPair pair(11);
  for (int step = 0; step < 4; ++step) {
    pair.Grow(3);
    REQUIRE(pair.shop.index->status().items == static_cast<int64_t>(pair.slow.items().size()));
    for (int i = 0; i < 40; ++i) {
      std::map<std::string, int> words;
      std::string query;
      for (size_t n = 1 + pair.random() % 4; n > 0; --n) {
        const std::string word = pair.Word();
        ++words[word];
        query += word + " ";
      }
      std::map<ItemOrdinal, double> expected;
      for (const auto& [item, fields] : pair.slow.items()) {
        const bool holds = std::any_of(words.begin(), words.end(),
                                       [&](const auto& word) { return pair.slow.Holds(item, word.first); });
        if (holds) expected[item] = pair.slow.Score(item, words);
      }
      CheckScores(pair.shop.Find({.query = query}, 1000), expected);
    }
  }
  CHECK(pair.shop.index->status().segments > 1);
}

// A random query in full parentheses, as text and as the set of items that it means.
struct RandomQuery {
  std::string text;
  std::function<bool(ItemOrdinal)> matches;
  std::map<std::string, int> words;               // asked for
  std::vector<std::vector<std::string>> phrases;  // asked for
};

RandomQuery MakeQuery(CollectionPair* pair, int depth) {
  const unsigned kind = depth == 0 ? pair->random() % 3 : 2 + pair->random() % 5;
  const SlowIndex& slow = pair->slow;
  if (kind == 0 && depth == 0) {
    const std::vector<std::string> words = {pair->Word(), pair->Word()};
    return {"\"" + words[0] + " " + words[1] + "\"",
            [&slow, words](ItemOrdinal item) { return slow.HoldsPhrase(item, words); },
            {},
            {words}};
  }
  if (kind <= 2) {
    const std::string word = pair->Word();
    return {word, [&slow, word](ItemOrdinal item) { return slow.Holds(item, word); }, {{word, 1}}, {}};
  }
  RandomQuery a = MakeQuery(pair, depth - 1), b = MakeQuery(pair, depth - 1);
  RandomQuery query;
  query.words = a.words;
  query.phrases = a.phrases;
  if (kind == 6) {
    query.text = "(" + a.text + (pair->random() % 2 ? " AND NOT " : " -") + b.text + ")";
    query.matches = [a, b](ItemOrdinal item) { return a.matches(item) && !b.matches(item); };
    return query;
  }
  for (const auto& [word, times] : b.words) query.words[word] += times;
  query.phrases.insert(query.phrases.end(), b.phrases.begin(), b.phrases.end());
  if (kind == 5) {
    query.text = "(" + a.text + (pair->random() % 2 ? " OR " : " ") + b.text + ")";
    query.matches = [a, b](ItemOrdinal item) { return a.matches(item) || b.matches(item); };
  } else {
    const bool signs = pair->random() % 2;
    query.text = signs ? "(+" + a.text + " +" + b.text + ")" : "(" + a.text + " AND " + b.text + ")";
    query.matches = [a, b](ItemOrdinal item) { return a.matches(item) && b.matches(item); };
  }
  return query;
}

TEST_CASE("phrases, AND, OR and NOT find and score what brute force does") {
  CollectionPair pair(12);
  pair.Grow(8);
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    const RandomQuery query = MakeQuery(&pair, i % 4);
    INFO(query.text);
    std::map<ItemOrdinal, double> expected;
    for (const auto& [item, fields] : pair.slow.items()) {
      if (query.matches(item)) expected[item] = pair.slow.Score(item, query.words, query.phrases);
    }
    CheckScores(pair.shop.Find({.query = query.text}, 1000), expected);
    found += !expected.empty();
  }
  CHECK(found > 200);
}

TEST_CASE("all matches are those of brute force, also those that are not allowed, with the scores of hits") {
  CollectionPair pair(21);
  pair.Grow(8);
  std::vector<ItemOrdinal> allowed, excluded;
  for (const auto& [item, fields] : pair.slow.items()) {
    if (pair.random() % 3 == 0) allowed.push_back(item);
    if (pair.random() % 5 == 0) excluded.push_back(item);
  }
  size_t found = 0;
  // A word, two, and what each algorithm serves.
  for (int i = 0; i < 300; ++i) {
    const RandomQuery asked = MakeQuery(&pair, i % 4);
    INFO(asked.text);
    KeywordQuery query{.query = asked.text, .all_matches = true};
    if (i % 2 == 0) query.allowed = std::make_shared<const ItemSet>(ItemSet::Of(allowed));
    if (i % 3 == 0) query.excluded = excluded;
    std::map<ItemOrdinal, double> expected;
    for (const auto& [item, fields] : pair.slow.items()) {
      if (i % 3 == 0 && std::binary_search(excluded.begin(), excluded.end(), item)) continue;
      if (asked.matches(item)) expected[item] = pair.slow.Score(item, asked.words, asked.phrases);
    }
    KeywordHits all = pair.shop.Find(query, 3);
    CHECK(all.items ==
          pair.shop.Find({.query = query.query, .allowed = query.allowed, .excluded = query.excluded}, 3)
              .items);
    all.items = std::move(all.matches);
    all.total = static_cast<int64_t>(all.items.size());
    std::sort(all.items.begin(), all.items.end(), [](const ScoredItem& a, const ScoredItem& b) {
      return a.score != b.score ? a.score > b.score : a.item < b.item;
    });
    CheckScores(all, expected);
    found += expected.size();
  }
  CHECK(found > 1000);
  const KeywordQuery pruned{.query = "w0", .count_up_to = 1000, .all_matches = true};
  CHECK(absl::IsInvalidArgument(pair.shop.index->Search(pruned, 3, Deadline::Never()).status()));
}

TEST_CASE("with match_all every word must be held") {
  CollectionPair pair(13);
  pair.Grow(4);
  for (int i = 0; i < 50; ++i) {
    const std::string a = pair.Word(), b = pair.Word();
    std::map<ItemOrdinal, double> expected;
    for (const auto& [item, fields] : pair.slow.items()) {
      if (!pair.slow.Holds(item, a) || !pair.slow.Holds(item, b)) continue;
      std::map<std::string, int> words;
      ++words[a], ++words[b];
      expected[item] = pair.slow.Score(item, words);
    }
    CheckScores(pair.shop.Find({.query = a + " " + b, .match_all = true}, 1000), expected);
  }
}

TEST_CASE("a phrase stands within one field and one value, with its gaps") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}, {"text", 1}}, /*english=*/true);
  shop.Put("across", {{"title", "red"}, {"text", "square"}});
  shop.Put("within", {{"title", "moscow"}, {"text", "the red square"}});
  shop.Put("gap", {{"title", "lord of the rings"}});
  shop.Put("no gap", {{"title", "lord rings"}});
  google::protobuf::Struct values;
  auto* list = (*values.mutable_fields())["text"].mutable_list_value();
  list->add_values()->set_string_value("quick red");
  list->add_values()->set_string_value("square dance");
  shop.Write({PutItem{"values", values}});
  shop.CatchUp();
  CHECK(shop.Search("\"red square\"") == Ids{"within"});
  CHECK(shop.Search("\"lord of the rings\"") == Ids{"gap"});
  CHECK(shop.Search("\"lord rings\"") == Ids{"no gap"});
  CHECK(shop.Search("quick AND dance") == Ids{"values"});
}

TEST_CASE("queries of nothing but stop words or operators find nothing") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}}, /*english=*/true);
  shop.Put("1", {{"title", "to be or not to be"}});
  shop.CatchUp();
  for (const char* query : {"", "the", "to be or not to be", "AND", "\"\"", "\"the\"", "-star", "NOT star",
                            "()", "+", "*", "?"}) {
    INFO(query);
    const KeywordHits hits = shop.Find({.query = query});
    CHECK(hits.items.empty());
    CHECK(hits.total == 0);
    CHECK(hits.complete);
  }
}

TEST_CASE("a query of more than 10 kB is refused by name, size and limit") {
  IndexedCollection shop;
  CHECK(shop.index->Search({.query = std::string(10 * 1024, 'a')}, 10, Deadline::Never()).ok());
  CHECK(shop.index->Search({.query = std::string(10 * 1024 + 1, 'a')}, 10, Deadline::Never()).status() ==
        absl::InvalidArgumentError("query has 10241 bytes; it takes at most 10240"));
}

TEST_CASE("only allowed items that are not excluded are found and counted") {
  CollectionPair pair(14);
  pair.Grow(5);
  std::vector<ItemOrdinal> allowed, excluded;
  for (const auto& [item, fields] : pair.slow.items()) {
    if (pair.random() % 2) allowed.push_back(item);
    if (pair.random() % 4 == 0) excluded.push_back(item);
  }
  KeywordQuery query{.query = "w0 w1 w5"};
  query.allowed = std::make_shared<const ItemSet>(ItemSet::Of(allowed));
  query.excluded = excluded;
  const std::map<std::string, int> words = {{"w0", 1}, {"w1", 1}, {"w5", 1}};
  std::map<ItemOrdinal, double> expected;
  for (ItemOrdinal item : allowed) {
    if (std::binary_search(excluded.begin(), excluded.end(), item)) continue;
    for (const auto& [word, times] : words) {
      if (pair.slow.Holds(item, word)) expected[item] = pair.slow.Score(item, words);
    }
  }
  REQUIRE(!expected.empty());
  CheckScores(pair.shop.Find(query, 1000), expected);
}

TEST_CASE("an item deleted in the catalogue is gone before the index knows of it") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "star wars"}});
  shop.Put("2", {{"title", "star trek"}});
  shop.CatchUp();
  shop.Delete("1");
  const KeywordHits hits = shop.Find({.query = "star"});
  CHECK(hits.total == 1);
  REQUIRE(hits.items.size() == 1);
  CHECK(hits.items[0].item == shop.Item("2"));
  CHECK(shop.index->status().items == 2);  // the index itself has not caught up
  shop.CatchUp();
  CHECK(shop.index->status().items == 1);
}

TEST_CASE("a change of fields that are not searched touches no segment") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "star wars"}, {"price", "10"}});
  shop.CatchUp();
  REQUIRE(shop.index->Commit().ok());
  const auto files = [&] {
    std::map<std::string, std::filesystem::file_time_type> times;
    for (const auto& entry : std::filesystem::directory_iterator(shop.index_folder())) {
      if (entry.path().filename().string()[0] == '_') times[entry.path().string()] = entry.last_write_time();
    }
    return times;
  };
  const auto before = files();
  UpdateItem update{"1", StructOf({{"price", "12"}}), {"price"}};
  shop.Write({update});
  shop.CatchUp();
  REQUIRE(shop.index->Commit().ok());
  CHECK(files() == before);
  CHECK(shop.index->position() == shop.store->End());
  update = {"1", StructOf({{"title", "star trek"}}), {"title"}};
  shop.Write({update});
  shop.CatchUp();
  CHECK(shop.Search("trek") == Ids{"1"});
  CHECK(shop.Search("wars").empty());
}

TEST_CASE("weights are those of the schema as it is now, without a rebuild") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}, {"text", 1}});
  shop.Put("title", {{"title", "star filler"}, {"text", "one two three"}});
  shop.Put("text", {{"title", "one filler"}, {"text", "star star three"}});
  shop.CatchUp();
  CHECK(shop.Search("star") == Ids{"text", "title"});
  shop.Declare({{"title", 10}, {"text", 1}});
  shop.CatchUp();
  CHECK(shop.Search("star") == Ids{"title", "text"});
  CHECK(shop.index->status().rebuild_reason.empty());
}

TEST_CASE("a search past its deadline stops and says so") {
  CollectionPair pair(16);
  pair.Grow(2);
  FixedClock clock(absl::UnixEpoch());
  auto hits = pair.shop.index->Search({.query = "w0 w1"}, 10, Deadline::After(-absl::Seconds(1), &clock));
  REQUIRE(hits.ok());
  CHECK_FALSE(hits->complete);
  CHECK_FALSE(hits->total_exact);
}

TEST_CASE("catching up to a place that the log has not reached ends with its deadline") {
  IndexedCollection shop;
  const absl::Status status = shop.index->CatchUpTo(1'000'000, absl::Now() + absl::Milliseconds(50));
  CHECK(absl::IsDeadlineExceeded(status));
}

TEST_CASE("the source answers a request's query among what may be shown") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "star wars"}});
  shop.Put("2", {{"title", "star trek"}});
  shop.Put("3", {{"title", "star"}});
  shop.CatchUp();
  const auto source = MakeKeywordSource(shop.index.get());
  CHECK(source->id() == SourceId::kKeyword);
  RequestContext context;
  CHECK_FALSE(source->Applies(context));
  context.query = "star";
  context.excluded = {shop.Item("3")};
  CHECK(source->Applies(context));
  auto answer = source->Find(context, 1, Deadline::Never());
  REQUIRE(answer.ok());
  CHECK(answer->total == 2);
  CHECK(answer->complete);
  REQUIRE(answer->items.size() == 1);
  CHECK(answer->items[0].item == shop.Item("1"));  // the same score as the other: the lower ordinal
  std::vector<Candidate> candidates(1);
  candidates[0].item = shop.Item("3");
  MakeKeywordSignals(shop.index.get())->Fill(context, absl::MakeSpan(candidates));
  CHECK(Get(candidates[0].signals, Signal::kKeywordTitle) == 1.0f);
}

TEST_CASE("BM25 parameters out of range are refused by name") {
  IndexedCollection shop;
  shop.CloseIndex();
  KeywordIndexOptions options;
  options.bm25.b = 1.5;
  const auto opened = KeywordIndex::Open(shop.store, shop.scope, shop.catalog.get(), options);
  CHECK(opened.status() ==
        absl::InvalidArgumentError("bm25 has k1 1.2 and b 1.5; k1 takes 0 or more, b from 0 to 1"));
}

}  // namespace
}  // namespace waymark::tests
