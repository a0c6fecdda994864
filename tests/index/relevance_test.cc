// Figures of test collections against the published ones of the reference script (BM25 k1 1.2, b .75,
// original Porter stemmer, Lucene's 33 stop words).
#include <algorithm>
#include <cmath>

#include "index/analyzer.h"
#include "tests/index/indexed_collection.h"
#include "tests/index/slow_index.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/trec.h"
#include "training/evaluation/search_metrics.h"

namespace waymark::tests {
namespace {

void Load(const TestCollection& collection, IndexedCollection* shop) {
  shop->Declare({{"title", 1}, {"text", 1}}, /*english=*/true);
  std::vector<std::pair<std::string, TextFields>> items;
  for (const TestDocument& document : collection.documents) {
    items.push_back({document.id, {{"title", document.title}, {"text", document.text}}});
  }
  shop->PutAll(items);
  shop->CatchUp();
}

SearchMetrics Measure(const TestCollection& collection, const IndexedCollection& shop) {
  SearchRun run;
  for (const auto& [id, text] : collection.queries) run[id] = shop.Search(text, 1000);
  const SearchMetrics m = EvaluateSearch(collection.judgements, run, {});
  std::printf("nDCG@10 %.4f  MAP %.4f  MRR %.4f  P@10 %.4f  R@100 %.4f  over %lld queries\n", m.ndcg_at_10,
              m.map, m.mrr, m.precision_at_10, m.recall_at_100, static_cast<long long>(m.queries));
  return m;
}

TEST_CASE("Cranfield reaches the reference, and its scores are brute force's") {
  if (!HaveData("cranfield")) return;
  const TestCollection cranfield = ReadCranfield();
  REQUIRE(cranfield.documents.size() == 1400);
  REQUIRE(cranfield.queries.size() == 225);
  IndexedCollection shop;
  Load(cranfield, &shop);
  std::printf("cranfield ");
  const SearchMetrics m = Measure(cranfield, shop);
  CHECK(m.queries == 225);
  CHECK(m.ndcg_at_10 >= 0.5065);
  CHECK(m.map >= 0.4106);

  const Analyzer analyzer{AnalysisSettings{}};
  SlowIndex slow({1, 1});
  for (const TestDocument& document : cranfield.documents) {
    std::vector<SlowField> fields;
    for (const std::string& text : {document.title, document.text}) {
      TermList terms;
      analyzer.Analyze(text, 0, &terms);
      SlowField& field = fields.emplace_back();
      for (size_t i = 0; i < terms.size(); ++i) field[terms.position(i)] = std::string(terms.term(i));
    }
    slow.Put(shop.Item(document.id), std::move(fields));
  }
  for (size_t q = 0; q < cranfield.queries.size(); q += 9) {
    TermList terms;
    analyzer.Analyze(cranfield.queries[q].second, 0, &terms);
    std::map<std::string, int> words;
    for (size_t i = 0; i < terms.size(); ++i) ++words[std::string(terms.term(i))];
    const KeywordHits hits =
        shop.Find({.query = cranfield.queries[q].second, .typos = TypoTolerance::kOff}, 2000);
    size_t matching = 0;
    for (const auto& [item, fields] : slow.items()) matching += slow.Score(item, words) > 0;
    REQUIRE(hits.total == static_cast<int64_t>(matching));
    REQUIRE(hits.items.size() == matching);
    for (const ScoredItem& hit : hits.items) {
      const double expected = slow.Score(hit.item, words);
      REQUIRE(std::abs(hit.score - expected) <= 1e-4 * std::max(1.0, expected));
    }
  }
}

TEST_CASE("MED reaches the reference") {
  if (!HaveData("med")) return;
  const TestCollection med = ReadMed();
  REQUIRE(med.documents.size() == 1033);
  REQUIRE(med.queries.size() == 30);
  IndexedCollection shop;
  Load(med, &shop);
  std::printf("med       ");
  const SearchMetrics m = Measure(med, shop);
  CHECK(m.queries == 30);
  CHECK(m.ndcg_at_10 >= 0.673);
  CHECK(m.map >= 0.512);
}

}  // namespace
}  // namespace waymark::tests
