#include <algorithm>

#include "pipeline/page_list.h"
#include "tests/end_to_end/shelf.h"

namespace waymark::tests {
namespace {

// Smaller comes first; {1, 0} for what is missing.
using SortValue = std::pair<int, double>;
SortValue Number(bool present, double value, bool descending) {
  return present ? SortValue{0, descending ? -value : value} : SortValue{1, 0};
}

struct Case {
  std::string order_by;
  std::vector<std::function<SortValue(const Row&)>> keys;
};

std::vector<Case> Cases() {
  const auto price = [](bool descending) {
    return [descending](const Row& row) {
      return Number(row.price.has_value(), row.price.value_or(0), descending);
    };
  };
  const auto year = [](bool descending) {
    return [descending](const Row& row) {
      return Number(row.year.has_value(), row.year.value_or(0), descending);
    };
  };
  const auto sizes = [](bool descending) {
    return [descending](const Row& row) {
      if (row.sizes.empty()) return SortValue{1, 0};
      const auto [least, greatest] = std::minmax_element(row.sizes.begin(), row.sizes.end());
      return SortValue{0, descending ? -*greatest : *least};
    };
  };
  const auto stock = [](const Row& row) {
    return Number(row.in_stock.has_value(), row.in_stock.value_or(false), false);
  };
  return {{"price", {price(false)}},
          {"year desc, price", {year(true), price(false)}},
          {"sizes desc", {sizes(true)}},
          {"in_stock, year, sizes", {stock, year(false), sizes(false)}}};
}

// All pages.
std::vector<RankedItem> AllPages(RandomShelf* shelf, PipelineRequest request, int64_t* total) {
  std::vector<RankedItem> items;
  do {
    const PipelineResponse answer = shelf->Run(request);
    *total = answer.total;
    items.insert(items.end(), answer.items.begin(), answer.items.end());
    request.page_token = answer.next_page_token;
  } while (!request.page_token.empty());
  return items;
}

TEST_CASE("sorted pages hold the first of all matches in order, with ties by score and then by age") {
  RandomShelf shelf(1200, 11);
  shelf.Change();
  for (const Case& asked : Cases()) {
    for (const int word : {-1, 0, 3}) {  // -1: browsing
      for (const bool filtered : {false, true}) {
        PipelineRequest request =
            SearchFor(word < 0 ? "" : "word" + std::to_string(word), filtered ? "year >= 1950" : "");
        request.page_size = 37;
        request.order_by = asked.order_by;
        INFO(asked.order_by << " of '" << request.query << "' " << request.filter);
        std::vector<const ShelfItem*> expected;
        for (const ShelfItem& item : shelf.items) {
          const bool passes = !filtered || (item.row.year && *item.row.year >= 1950);
          if (item.row.live && passes && (word < 0 || item.Holds(word))) expected.push_back(&item);
        }
        const auto values = [&](const ShelfItem& item) {
          std::vector<SortValue> all;
          for (const auto& key : asked.keys) all.push_back(key(item.row));
          return all;
        };
        std::stable_sort(expected.begin(), expected.end(),
                         [&](const ShelfItem* a, const ShelfItem* b) { return values(*a) < values(*b); });
        int64_t total = 0;
        const std::vector<RankedItem> items = AllPages(&shelf, request, &total);
        CHECK(total == static_cast<int64_t>(expected.size()));
        REQUIRE(items.size() == std::min(expected.size(), kMaxPagedItems));
        std::set<std::string> distinct;
        for (size_t i = 0; i < items.size(); ++i) {
          const ShelfItem& item = shelf.At(items[i].record.id());
          distinct.insert(item.id);
          REQUIRE(values(item) == values(*expected[i]));
          if (word >= 0) CHECK(item.Holds(word));
          if (i == 0 || values(item) != values(shelf.At(items[i - 1].record.id()))) continue;
          const RankedItem& before = items[i - 1];
          CHECK(before.score >= items[i].score);
          if (before.score == items[i].score) CHECK(before.item < items[i].item);
        }
        CHECK(distinct.size() == items.size());
      }
    }
  }
}

TEST_CASE("an order is refused where it cannot be, and with what it leaves without a meaning") {
  OpenEngine engine;
  Collection* films = engine.In();
  MustWrite(films, {Film("f1", "The Star", "Drama", 3), Film("f2", "A Star", "Drama", 2)});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  const auto refusal = [&](const PipelineRequest& request) {
    return std::string(films->Run(request, Deadline::Never()).status().message());
  };
  PipelineRequest request = SearchFor("star");
  request.order_by = "title";
  CHECK_THAT(refusal(request), Catch::StartsWith("order_by: 'title' is TEXT"));
  request.order_by = "price";
  CHECK(Ids(films, request) == std::vector<std::string>{"f2", "f1"});
  request.explain = true;
  CHECK_THAT(refusal(request), Catch::StartsWith("explain: "));
  request.explain = false;
  request.rank_limit = 10;
  CHECK_THAT(refusal(request), Catch::StartsWith("candidates: "));
  request.rank_limit = 0;
  request.page_size = 1;
  const auto first = films->Run(request, Deadline::Never());
  REQUIRE(first.ok());
  request.page_token = first->next_page_token;
  request.order_by = "price desc";
  CHECK_THAT(refusal(request), Catch::StartsWith("page_token: belongs to a request with other arguments"));
}

}  // namespace
}  // namespace waymark::tests
