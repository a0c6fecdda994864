#include "recommend/ease.h"

#include <cmath>
#include <filesystem>
#include <random>

#include "recommend/gram_inverse.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

SparseRows RandomRows(size_t rows, uint32_t columns, uint32_t seed) {
  std::mt19937 random(seed);
  SparseRows x;
  for (size_t r = 0; r < rows; ++r) {
    for (uint32_t c = 0; c < columns; ++c) {
      if (random() % 3 == 0) x.columns.push_back(c);
    }
    x.starts.push_back(x.columns.size());
  }
  return x;
}

// The product of the inverse and X^T X + lambda I, in double precision, must be the unit matrix.
double LargestError(const SparseRows& x, size_t n, double lambda, const std::vector<float>& inverse) {
  std::vector<double> gram(n * n, 0);
  for (size_t r = 0; r < x.rows(); ++r) {
    for (uint64_t i = x.starts[r]; i < x.starts[r + 1]; ++i) {
      for (uint64_t j = x.starts[r]; j < x.starts[r + 1]; ++j) gram[x.columns[i] * n + x.columns[j]] += 1;
    }
  }
  for (size_t i = 0; i < n; ++i) gram[i * n + i] += lambda;
  double largest = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += inverse[i * n + k] * gram[k * n + j];
      largest = std::max(largest, std::abs(sum - (i == j)));
    }
  }
  return largest;
}

TEST_CASE("the inverse is the inverse, by the columns' side and by the rows' side") {
  for (size_t rows : {20, 200}) {
    const SparseRows x = RandomRows(rows, 70, static_cast<uint32_t>(rows));
    auto inverse = InverseOfGram(x, 70, 5);
    REQUIRE(inverse.ok());
    CHECK(LargestError(x, 70, 5, *inverse) < 1e-4);
  }
}

Interactions TwoItems() {
  Interactions interactions;
  const std::vector<int64_t> times = {1, 2};
  interactions.AddUser(1, std::vector<ItemOrdinal>{10, 20}, times, std::vector<LogOffset>{1, 2});
  interactions.AddUser(2, std::vector<ItemOrdinal>{10}, std::vector<int64_t>{1}, std::vector<LogOffset>{3});
  return interactions;
}

TEST_CASE("two items have the weights that are worked out by hand") {
  // X^T X + I = [[3, 1], [1, 2]], its inverse [[2, -1], [-1, 3]] / 5. B = I - P / diag(P):
  // B[10,20] = 1/3, B[20,10] = 1/2.
  auto ease = Ease::Build(TwoItems(), {.lambda = 1});
  REQUIRE(ease.ok());
  std::vector<float> scores(2);
  REQUIRE((*ease)->Scores(std::vector<ItemOrdinal>{10}, absl::MakeSpan(scores)));
  CHECK(scores[0] == 0);
  CHECK(scores[1] == Approx(1.0 / 3));
  REQUIRE((*ease)->Scores(std::vector<ItemOrdinal>{10, 20}, absl::MakeSpan(scores)));
  CHECK(scores[0] == Approx(0.5));
  CHECK(scores[1] == Approx(0.7 / 3));
  CHECK_FALSE((*ease)->Scores(std::vector<ItemOrdinal>{99}, absl::MakeSpan(scores)));
  std::vector<float> some(2);
  REQUIRE((*ease)->ScoresOf(std::vector<ItemOrdinal>{10}, std::vector<ItemOrdinal>{20, 99},
                            absl::MakeSpan(some)));
  CHECK(some[0] == Approx(1.0 / 3));
  CHECK(std::isnan(some[1]));
}

TEST_CASE("a catalogue that is too large is refused with the bytes it would take") {
  const auto status = Ease::Build(TwoItems(), {.max_items = 1}).status();
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(status.message().find("16 bytes") != absl::string_view::npos);
  CHECK(Ease::Build(TwoItems(), {.lambda = 0}).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("weights come back from their file, and those of another lambda do not") {
  const auto file = std::filesystem::temp_directory_path() / "waymark_ease_test" / "ease";
  auto ease = Ease::Build(TwoItems(), {.lambda = 1});
  REQUIRE(ease.ok());
  REQUIRE((*ease)->Save(file, 5).ok());
  LogOffset position = 0;
  auto opened = Ease::Open(file, {.lambda = 1}, &position);
  REQUIRE(opened.ok());
  CHECK(position == 5);
  CHECK((*opened)->events() == 3);
  std::vector<float> scores(2);
  REQUIRE((*opened)->Scores(std::vector<ItemOrdinal>{10}, absl::MakeSpan(scores)));
  CHECK(scores[1] == Approx(1.0 / 3));
  CHECK(Ease::Open(file, {.lambda = 2}, &position).status().code() == absl::StatusCode::kFailedPrecondition);
  std::filesystem::remove_all(file.parent_path());
}

}  // namespace
}  // namespace waymark
