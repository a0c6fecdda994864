#include <map>

#include "pipeline/facet_stage.h"
#include "tests/end_to_end/shelf.h"

namespace waymark::tests {
namespace {

// Two comparisons that AND joins, one of them of genres.
struct TwoParts {
  std::string text;
  bool genre(const Row& row) const {
    return std::find(row.genres.begin(), row.genres.end(), "Drama") != row.genres.end();
  }
  bool rest(const Row& row) const { return row.year && *row.year >= 1950; }
};

using Counts = std::map<std::string, int64_t>;
Counts CountsOf(const FacetAnswer& facet) {
  Counts counts;
  for (const auto& value : facet.counts.values) counts[value.value] = value.count;
  return counts;
}

FacetAsked Asked(const std::string& field, bool disjunctive = false) {
  FacetAsked asked;
  asked.spec.field = field;
  asked.spec.limit = 1000;
  asked.disjunctive = disjunctive;
  return asked;
}

void CheckShelf(RandomShelf* shelf) {
  const TwoParts filter{"genres = \"Drama\" AND year >= 1950"};
  for (const int word : {-1, 0, 1, 3, 11}) {  // -1: browsing
    for (const bool filtered : {false, true}) {
      PipelineRequest request =
          SearchFor(word < 0 ? "" : "word" + std::to_string(word), filtered ? filter.text : "");
      request.page_size = 1;
      request.facets = {Asked("genres"), Asked("genres", true), Asked("in_stock")};
      request.facets[2].excluded_filter_fields = {"year"};
      Counts plain, disjunctive, stock;
      int64_t total = 0, missing = 0;
      for (const ShelfItem& item : shelf->items) {
        if (!item.row.live || (word >= 0 && !item.Holds(word))) continue;
        const bool rest = !filtered || filter.rest(item.row), genre = !filtered || filter.genre(item.row);
        total += rest && genre;
        missing += rest && genre && item.row.genres.empty();
        for (const std::string& value : item.row.genres) {
          if (rest && genre) ++plain[value];
          if (rest) ++disjunctive[value];
        }
        if (genre && item.row.in_stock) ++stock[*item.row.in_stock ? "true" : "false"];
      }
      INFO(request.query << " " << request.filter);
      const PipelineResponse answer = shelf->Run(request);
      CHECK(answer.total == total);
      REQUIRE(answer.facets.size() == 3);
      CHECK(CountsOf(answer.facets[0]) == plain);
      CHECK(answer.facets[0].counts.missing == missing);
      CHECK(CountsOf(answer.facets[1]) == disjunctive);
      CHECK(CountsOf(answer.facets[2]) == stock);
      // A later page counts the same.
      if (answer.next_page_token.empty()) continue;
      request.page_token = answer.next_page_token;
      const PipelineResponse later = shelf->Run(request);
      REQUIRE(later.facets.size() == 3);
      CHECK(CountsOf(later.facets[1]) == disjunctive);
    }
  }
}

TEST_CASE("facets count all that query and filter match, whatever the page shows, before and after changes") {
  RandomShelf shelf(1500, 3);
  CheckShelf(&shelf);
  shelf.Change();
  CheckShelf(&shelf);
}

TEST_CASE("a word that nobody holds, or one that is a stop word, counts nothing") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, {Film("f1", "The Star", "Drama", 3), Film("f2", "A Star", "Comedy", 4)});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  for (const char* query : {"nothing", "the"}) {
    PipelineRequest request = SearchFor(query);
    request.facets = {Asked("genres")};
    const auto answer = films->Run(request, Deadline::Never());
    REQUIRE(answer.ok());
    CHECK(answer->facets[0].counts.values.empty());
    CHECK(answer->facets[0].counts.missing == 0);
  }
}

TEST_CASE("facets that cannot be counted are refused before anything is searched") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, {Film("f1", "The Star", "Drama", 3)});
  PipelineRequest request = SearchFor("star");
  const auto refusal = [&] { return std::string(films->Run(request, Deadline::Never()).status().message()); };
  request.facets = {Asked("genres"), Asked("title")};
  CHECK_THAT(refusal(), Catch::StartsWith("facets[1].field: 'title' is TEXT"));
  request.facets = {Asked("genres")};
  request.facets[0].excluded_filter_fields = {"gnres"};
  CHECK_THAT(refusal(), Catch::StartsWith("facets[0].excluded_filter_fields: 'gnres' is not in the schema"));
  request.facets.assign(33, Asked("genres"));
  CHECK_THAT(refusal(), Catch::StartsWith("facets: 33 are asked for; it takes at most 32"));
  request.facets.assign(1, Asked("price"));
  request.facets[0].spec.limit = 0;
  request.facets[0].spec.histogram_interval = 1e-300;
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  CHECK_THAT(refusal(), Catch::StartsWith("facets[0].histogram.interval: "));
}

TEST_CASE("facets past the deadline are left out, and the answer says which") {
  RandomShelf shelf(60, 4);
  const auto facets = CheckFacets({Asked("genres"), Asked("year")}, *shelf.films->catalog().schema());
  REQUIRE(facets.ok());
  FixedClock clock(absl::FromUnixSeconds(100));
  std::vector<Degraded> degraded;
  const auto counted = CountFacets(*facets, {&shelf.films->catalog()},
                                   Deadline::At(absl::FromUnixSeconds(50), &clock), &degraded);
  REQUIRE(counted.ok());
  CHECK(counted->empty());
  REQUIRE(degraded.size() == 2);
  CHECK(degraded[1].stage == "facets");
  CHECK_THAT(degraded[1].reason, Catch::Contains("'year'"));
}

}  // namespace
}  // namespace waymark::tests
