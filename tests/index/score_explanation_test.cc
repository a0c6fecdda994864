#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/index/collection_pair.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

using Kind = TermExplanation::Kind;

ScoreExplanation Explain(const IndexedCollection& shop, const std::string& query, ItemOrdinal item,
                         TypoTolerance typos = TypoTolerance::kAuto) {
  const ItemOrdinal items[] = {item};
  auto explained = shop.index->Explain(query, items, Deadline::Never(), typos);
  REQUIRE(explained.size() == 1);
  REQUIRE(explained[0].has_value());
  return *std::move(explained[0]);
}

// What the explanation itself says of a term, by the formula of docs/queries.md.
double ByFormula(const ScoreExplanation& explained, const TermExplanation& term) {
  const double norm =
      explained.k1 * (1 - explained.b + explained.b * explained.length / explained.average_length);
  CHECK(std::abs(norm - explained.length_norm) < 1e-5);
  return term.idf * term.times * term.tf / (term.tf + norm);
}

void CheckSum(const ScoreExplanation& explained, float score) {
  double sum = 0;
  for (const TermExplanation& term : explained.terms) {
    sum += term.contribution;
    if (term.left_out.empty()) {
      REQUIRE(std::abs(term.contribution - ByFormula(explained, term)) < 1e-5);
    } else {
      REQUIRE(term.contribution == 0);
    }
  }
  REQUIRE(std::abs(sum - score) < 1e-5);
  REQUIRE(std::abs(explained.score - score) < 1e-5);
}

TEST_CASE("a score is explained by hand-worked numbers") {
  IndexedCollection shop;
  shop.Declare({{"title", 2}, {"text", 1}});
  shop.Put("1", {{"title", "star wars"}, {"text", "a star far away"}});  // length 2 * 2 + 4
  shop.Put("2", {{"title", "star"}, {"text", "dust"}});                  // 2 + 1
  shop.Put("3", {{"title", "moon"}, {"text", "a stone in the sky"}});    // 2 + 5
  shop.Put("4", {{"text", "nothing"}});                                  // 1
  shop.CatchUp();
  const auto explained = Explain(shop, "star star moon", shop.Item("1"));
  CHECK(explained.documents == 4);
  CHECK(explained.length == 8);
  CHECK(explained.average_length == (8 + 3 + 7 + 1) / 4.0);
  REQUIRE(explained.terms.size() == 2);
  const TermExplanation& star = explained.terms[0];
  CHECK(star.kind == Kind::kWord);
  CHECK(star.term == "star");
  CHECK(star.times == 2);
  CHECK(star.documents_with == 2);
  CHECK(std::abs(star.idf - std::log(1 + (4 - 2 + 0.5) / 2.5)) < 1e-6);
  CHECK(star.tf == 3);  // twice in the title, once in the text
  REQUIRE(star.fields.size() == 2);
  CHECK(star.fields[0].frequency == 1);
  CHECK(star.fields[0].weight + star.fields[1].weight == 3);
  const double norm = 1.2 * (1 - 0.75 + 0.75 * 8 / 4.75);
  CHECK(std::abs(star.contribution - std::log(2.0) * 2 * 3 / (3 + norm)) < 1e-5);
  CHECK(explained.terms[1].term == "moon");
  CHECK(explained.terms[1].contribution == 0);
  CHECK(explained.terms[1].left_out == "the item does not hold it");
  for (const ScoredItem& hit : shop.Find({.query = "star star moon"}).items) {
    CheckSum(Explain(shop, "star star moon", hit.item), hit.score);
  }
}

TEST_CASE("the sum of every explanation is the score of the search") {
  CollectionPair pair(77);
  pair.Grow(5);
  int looked = 0;
  for (const std::string query :
       {"w0 w3 \"w1 w2\" -w7", "w0 w0 w5", "\"w0 w1\"", "w4 OR (w3 -w1)", "w1* w2", "w12~ w3", "w0 AND w1",
        "\"w2 w1\" \"w2 w1\" w1", "w1* w1* w2~2 w40*", "w1^3 w2 \"w3 w4\"^.5", "\"w1 w5\"~3 w2",
        "title:w1 w3", "text:\"w0 w1\" w2"}) {
    for (const TypoTolerance typos : {TypoTolerance::kAuto, TypoTolerance::kOff, TypoTolerance::kAlways}) {
      KeywordQuery asked{.query = query};
      asked.typos = typos;
      for (const ScoredItem& hit : pair.shop.Find(asked, 50).items) {
        INFO(query);
        CheckSum(Explain(pair.shop, query, hit.item, typos), hit.score);
        ++looked;
      }
    }
  }
  CHECK(looked > 300);
}

TEST_CASE("what a word stands for is named, and the best of it counts") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "general generation"}});
  shop.Put("2", {{"title", "receive"}});
  shop.CatchUp();
  const auto prefix = Explain(shop, "gener*", shop.Item("1"));
  REQUIRE(prefix.terms.size() == 2);
  int counted = 0;
  for (const TermExplanation& term : prefix.terms) {
    CHECK(term.kind == Kind::kVariant);
    CHECK(term.typed == "gener");
    counted += term.contribution > 0;
  }
  CHECK(counted == 1);
  CheckSum(prefix, shop.Find({.query = "gener*"}).items[0].score);
  const auto typo = Explain(shop, "recieve", shop.Item("2"));
  REQUIRE(typo.terms.size() == 1);
  CHECK(typo.terms[0].term == "receive");
  CHECK(typo.terms[0].typed == "recieve");
  CheckSum(typo, shop.Find({.query = "recieve"}).items[0].score);
}

TEST_CASE("items that the index does not hold are not explained") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "star"}});
  shop.Put("2", {{"title", "star"}});
  shop.Delete("2");
  shop.CatchUp();
  const ItemOrdinal items[] = {shop.Item("2"), 77, shop.Item("1")};
  const auto explained = shop.index->Explain("star", items, Deadline::Never());
  CHECK_FALSE(explained[0].has_value());
  CHECK_FALSE(explained[1].has_value());
  CHECK(explained[2].has_value());
}

}  // namespace
}  // namespace waymark::tests
