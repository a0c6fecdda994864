#include <algorithm>
#include <cmath>
#include <map>

#include "tests/index/collection_pair.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

TEST_CASE("signals of given items are those of the search, whoever found them") {
  CollectionPair pair(15);
  pair.Grow(5);
  const std::string query = "w0 w3 \"w1 w2\" -w7";
  const std::map<std::string, int> words = {{"w0", 1}, {"w3", 1}};
  std::vector<Candidate> candidates;
  for (const auto& [item, fields] : pair.slow.items()) {
    candidates.emplace_back();
    candidates.back().item = item;
  }
  std::shuffle(candidates.begin(), candidates.end(), pair.random);
  candidates.emplace_back();
  candidates.back().item = 1'000'000;  // never written
  pair.shop.index->Fill(query, absl::MakeSpan(candidates));
  int without = 0;
  for (const Candidate& candidate : candidates) {
    const float score = Get(candidate.signals, Signal::kKeywordScore);
    const float coverage = Get(candidate.signals, Signal::kKeywordCoverage);
    const float title = Get(candidate.signals, Signal::kKeywordTitle);
    if (candidate.item == 1'000'000) {
      CHECK(std::isnan(score));
      CHECK(std::isnan(coverage));
      CHECK(std::isnan(title));
      continue;
    }
    int held = 0, in_title = 0;
    for (const char* word : {"w0", "w3", "w1", "w2"}) {
      held += pair.slow.Holds(candidate.item, word);
      for (const auto& [position, text] : pair.slow.items().at(candidate.item)[0]) {
        if (text == word) {
          ++in_title;
          break;
        }
      }
    }
    REQUIRE(coverage == held / 4.0f);
    REQUIRE(title == in_title / 4.0f);
    REQUIRE(std::isnan(score) == (held == 0));
    without += held == 0;
    if (held > 0) REQUIRE(std::abs(score - pair.slow.Score(candidate.item, words, {{"w1", "w2"}})) < 1e-4);
  }
  CHECK(without > 0);
  // The very numbers of the search: words that stand in phrases only, or are excluded in a part of the query
  // that the item does not need, add nothing.
  for (const std::string& asked : {query, std::string("w0 \"w1 w2\""), std::string("w0 OR (w3 -w1)"),
                                   std::string("w4 w5 w6"), std::string("w0 AND w1")}) {
    const auto found = pair.shop.Find({.query = asked}, 1000).items;
    REQUIRE_FALSE(found.empty());
    for (const ScoredItem& hit : found) {
      std::vector<Candidate> one(1);
      one[0].item = hit.item;
      pair.shop.index->Fill(asked, absl::MakeSpan(one));
      INFO(asked);
      REQUIRE(Get(one[0].signals, Signal::kKeywordScore) == hit.score);
    }
  }
}

}  // namespace
}  // namespace waymark::tests
