#include <algorithm>
#include <map>
#include <set>

#include "pipeline/page_list.h"
#include "tests/end_to_end/shelf.h"

namespace waymark::tests {
namespace {

std::string GroupOf(const ShelfItem& item, const std::string& field) {
  if (field == "genres" && !item.row.genres.empty()) return item.row.genres[0];
  if (field == "brand" && item.row.brand) return *item.row.brand;
  if (field == "year" && item.row.year) return std::to_string(*item.row.year);
  if (field == "in_stock" && item.row.in_stock) return *item.row.in_stock ? "true" : "false";
  return "alone: " + item.id;
}

struct Listed {
  std::string id, group;
  double score = 0;
};

std::vector<Listed> AllPages(RandomShelf* shelf, PipelineRequest request) {
  std::vector<Listed> items;
  do {
    const PipelineResponse answer = shelf->Run(request);
    std::set<std::string> groups;
    for (const RankedItem& item : answer.items) {
      std::string group;
      if (item.group) group = item.group->value ? *item.group->value : "alone: " + item.record.id();
      CHECK(item.group.has_value() == request.group_by.has_value());
      groups.insert(group);
      items.push_back({item.record.id(), group, item.score});
    }
    if (request.group_by) CHECK(groups.size() <= static_cast<size_t>(request.page_size));
    request.page_token = answer.next_page_token;
  } while (!request.page_token.empty());
  return items;
}

// The first `limit` of each group of a list, groups in the order of their first.
std::vector<std::string> Grouped(const RandomShelf& shelf, const std::vector<std::string>& list,
                                 const std::string& field, size_t limit) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& id : list) {
    std::vector<std::string>& group = groups[GroupOf(shelf.At(id), field)];
    if (group.empty()) order.push_back(GroupOf(shelf.At(id), field));
    if (group.size() < limit) group.push_back(id);
  }
  std::vector<std::string> grouped;
  for (const std::string& group : order) {
    if (grouped.size() + groups[group].size() > kMaxPagedItems) break;
    grouped.insert(grouped.end(), groups[group].begin(), groups[group].end());
  }
  return grouped;
}

std::vector<std::string> IdsOf(const std::vector<Listed>& items) {
  std::vector<std::string> ids;
  for (const Listed& item : items) ids.push_back(item.id);
  return ids;
}

TEST_CASE("a grouped search holds the best of each group of the ranked list") {
  RandomShelf shelf(600, 5);
  for (const char* field : {"genres", "year", "in_stock", "brand"}) {
    for (const int limit : {0, 1, 3}) {
      for (const char* query : {"word0", "word1 word2", "word7"}) {
        PipelineRequest request = SearchFor(query, "price >= 0");
        const std::vector<std::string> plain = IdsOf(AllPages(&shelf, request));
        REQUIRE(plain.size() < kMaxPagedItems);
        request.group_by = GroupAsked{field, limit};
        request.page_size = 7;
        INFO(query << " by " << field << " " << limit);
        const std::vector<Listed> items = AllPages(&shelf, request);
        CHECK(IdsOf(items) == Grouped(shelf, plain, field, static_cast<size_t>(std::max(1, limit))));
        for (const Listed& item : items) CHECK(item.group == GroupOf(shelf.At(item.id), field));
      }
    }
  }
}

TEST_CASE("groups of a sorted search are exact over all matches, however many") {
  RandomShelf shelf(3000, 6);
  for (const char* field : {"genres", "brand"}) {
    for (const int limit : {1, 4}) {
      for (const char* query : {"", "word0"}) {
        // Every film has another price, so nothing ties.
        PipelineRequest request = SearchFor(query, "price:*");
        request.order_by = "year desc, price";
        request.group_by = GroupAsked{field, limit};
        std::vector<const ShelfItem*> matching;
        for (const ShelfItem& item : shelf.items) {
          if (item.row.live && item.row.price && (*query == '\0' || item.Holds(0))) matching.push_back(&item);
        }
        const auto key = [](const ShelfItem* item) {
          const Row& row = item->row;
          return std::tuple(!row.year, -row.year.value_or(0), *row.price);
        };
        std::stable_sort(matching.begin(), matching.end(),
                         [&](const ShelfItem* a, const ShelfItem* b) { return key(a) < key(b); });
        std::vector<std::string> sorted;
        for (const ShelfItem* item : matching) sorted.push_back(item->id);
        INFO(query << " by " << field << " " << limit);
        const std::vector<std::string> expected = Grouped(shelf, sorted, field, static_cast<size_t>(limit));
        const std::vector<Listed> items = AllPages(&shelf, request);
        CHECK(IdsOf(items) == expected);
      }
    }
  }
}

TEST_CASE("a group that holds more than is ranked does not hide the others") {
  OpenEngine engine;
  Collection* films = engine.In();
  std::vector<Mutation> writes;
  for (int i = 0; i < 700; ++i) writes.push_back(Film("d" + std::to_string(i), "Star", "Drama", i));
  // Longer titles score less: beyond the 500 that are ranked.
  writes.push_back(Film("c1", "Star of a much longer title than the others have", "Comedy", 1));
  writes.push_back(Film("c2", "Star of a still much longer title than all of the others have", "Comedy", 1));
  writes.push_back(Film("w1", "Star of a much longer title than the others have", "War", 1));
  MustWrite(films, {writes.begin(), writes.begin() + 400});
  MustWrite(films, {writes.begin() + 400, writes.end()});
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  PipelineRequest request = SearchFor("star");
  CHECK(!Has(Ids(films, request), "c1"));
  request.group_by = GroupAsked{"genres", 2};
  std::vector<std::string> ids = Ids(films, request);
  REQUIRE(ids.size() == 5);
  CHECK(ids[0][0] == 'd');
  CHECK(ids[1][0] == 'd');
  CHECK(std::set<std::string>(ids.begin() + 2, ids.end()) == std::set<std::string>{"c1", "c2", "w1"});
  const auto answer = films->Run(request, Deadline::Never());
  CHECK(answer->total == 703);
}

TEST_CASE("a feed is grouped too, and what is wrong with a group is named") {
  OpenEngine engine;
  Collection* films = engine.In();
  std::vector<Mutation> writes;
  for (int i = 0; i < 30; ++i) {
    writes.push_back(Film("f" + std::to_string(i), "Star", "g" + std::to_string(i % 3), i));
  }
  MustWrite(films, writes);
  PipelineRequest request = FeedOf("u");
  request.group_by = GroupAsked{"genres", 4};
  const auto answer = films->Run(request, Deadline::Never());
  REQUIRE(answer.ok());
  REQUIRE(answer->items.size() == 12);
  for (size_t i = 0; i < 12; ++i)
    CHECK(answer->items[i].group->value == answer->items[i / 4 * 4].group->value);
  const auto refusal = [&] { return std::string(films->Run(request, Deadline::Never()).status().message()); };
  request.group_by = GroupAsked{"title", 4};
  CHECK_THAT(refusal(),
             Catch::StartsWith("group_by.field: 'title' is TEXT; it takes fields that are KEYWORD"));
  request.group_by = GroupAsked{"genres", 101};
  CHECK_THAT(refusal(), Catch::StartsWith("group_by.limit: is 101; it takes 1 to 100"));
}

}  // namespace
}  // namespace waymark::tests
