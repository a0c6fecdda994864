#include "training/federated/model/bucket_table.h"

#include <cmath>
#include <set>

#include "recommend/network/counter_random.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<std::string> Names(size_t count) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back("item" + std::to_string(i));
  return ids;
}

TEST_CASE("Rows of an id are different ones, the same everywhere, and spread evenly") {
  const BucketTable table(7, 64, 2);
  const std::vector<uint32_t> rows = table.RowsOf(Names(6400));
  REQUIRE(rows.size() == 12800);
  std::vector<int> used(64, 0);
  for (size_t i = 0; i < 6400; ++i) {
    CHECK(rows[2 * i] != rows[2 * i + 1]);
    ++used[rows[2 * i]];
    ++used[rows[2 * i + 1]];
  }
  for (int count : used) CHECK(std::abs(count - 200) < 85);  // 6 deviations
  CHECK(table.RowsOf({"item5"}) == std::vector<uint32_t>(rows.begin() + 10, rows.begin() + 12));
  CHECK(BucketTable(8, 64, 2).RowsOf(Names(6400)) != rows);
}

TEST_CASE("An item is the sum of its rows") {
  const BucketTable table(1, 4, 2);
  const std::vector<float> rows{1, 10, 2, 20, 4, 40, 8, 80};
  std::vector<float> items(4);
  Expand(table, {0, 2, 3, 1}, rows, 2, absl::MakeSpan(items));
  CHECK(items == std::vector<float>{5, 50, 10, 100});
}

TEST_CASE("Folding is the smallest move that moves items as asked, worked out by hand") {
  // Item a of rows 0 and 1 moves by 2: both by 1 (any other way is longer). Row 2 and 3 are nobody's.
  std::vector<float> update(4, 9);
  Fold(BucketTable(1, 4, 2), {0, 1}, {2}, 1, absl::MakeSpan(update));
  CHECK(update[0] == Approx(1));
  CHECK(update[1] == Approx(1));
  CHECK(update[2] == 0);
  CHECK(update[3] == 0);
  // Two items in one row, which move by 1 and 3: by the mean.
  Fold(BucketTable(1, 4, 1), {2, 2}, {1, 3}, 1, absl::MakeSpan(update));
  CHECK(update[2] == Approx(2));
  CHECK(update[0] == 0);
}

TEST_CASE("With more rows than items the folded moves expand to what was asked") {
  constexpr size_t kItems = 500, kWidth = 3;
  const BucketTable table(3, 2000, 2);
  const auto rows = table.RowsOf(Names(kItems));
  std::vector<float> moved(kItems * kWidth);
  for (size_t i = 0; i < moved.size(); ++i) moved[i] = static_cast<float>(RandomUnit(5, i) - .5);
  std::vector<float> update(2000 * kWidth), again(moved.size());
  Fold(table, rows, moved, kWidth, absl::MakeSpan(update));
  Expand(table, rows, update, kWidth, absl::MakeSpan(again));
  double worst = 0;
  for (size_t i = 0; i < moved.size(); ++i) worst = std::max<double>(worst, std::abs(again[i] - moved[i]));
  CHECK(worst < 1e-3);
  const std::set<uint32_t> used(rows.begin(), rows.end());
  for (uint32_t row = 0; row < 2000; ++row) {
    if (!used.contains(row)) CHECK(update[row * kWidth] == 0);
  }
}

TEST_CASE("With fewer rows than items the residual is orthogonal to every row: least squares") {
  constexpr size_t kItems = 400;
  const BucketTable table(3, 100, 2);
  const auto rows = table.RowsOf(Names(kItems));
  std::vector<float> moved(kItems);
  for (size_t i = 0; i < kItems; ++i) moved[i] = static_cast<float>(RandomUnit(6, i) - .5);
  std::vector<float> update(100), again(kItems);
  Fold(table, rows, moved, 1, absl::MakeSpan(update));
  Expand(table, rows, update, 1, absl::MakeSpan(again));
  std::vector<double> left(100, 0);
  for (size_t r = 0; r < rows.size(); ++r) left[rows[r]] += moved[r / 2] - again[r / 2];
  for (double sum : left) CHECK(std::abs(sum) < 1e-3);
}

}  // namespace
}  // namespace waymark
