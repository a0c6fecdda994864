#include "recommend/vector_merge.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

constexpr size_t kNoLimit = ~size_t{0};

TEST_CASE("four segments of one tier become one, three stay") {
  CHECK(PlanMerge(std::vector<SegmentSize>{{5000, 0}, {5000, 0}, {5000, 0}}, kNoLimit).empty());
  CHECK(PlanMerge(std::vector<SegmentSize>{{70000, 0}, {5000, 0}, {5000, 0}, {5000, 0}, {5000, 0}},
                  kNoLimit) == std::vector<size_t>{1, 2, 3, 4});
}

TEST_CASE("a segment of which a quarter is dead is written anew, one that is all dead too") {
  CHECK(PlanMerge(std::vector<SegmentSize>{{1000, 249}}, kNoLimit).empty());
  CHECK(PlanMerge(std::vector<SegmentSize>{{1000, 0}, {1000, 250}}, kNoLimit) == std::vector<size_t>{1});
  CHECK(PlanMerge(std::vector<SegmentSize>{{8, 8}}, 0) == std::vector<size_t>{0});
}

TEST_CASE("what does not fit in memory is not merged") {
  CHECK(PlanMerge(std::vector<SegmentSize>{{5000, 0}, {5000, 0}, {5000, 0}, {5000, 0}}, 19999).empty());
}

TEST_CASE("however many vectors come, segments stay few and each vector is written few times") {
  std::vector<SegmentSize> segments;
  size_t written = 0;
  for (int seal = 0; seal < 1000; ++seal) {
    segments.push_back({4096, 0});
    written += 4096;
    for (auto plan = PlanMerge(segments, kNoLimit); !plan.empty(); plan = PlanMerge(segments, kNoLimit)) {
      size_t rows = 0;
      for (auto i = plan.rbegin(); i != plan.rend(); ++i) {
        rows += segments[*i].rows;
        segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(*i));
      }
      segments.push_back({rows, 0});
      written += rows;
    }
    CHECK(segments.size() <= 3 * 6);
  }
  CHECK(written <= size_t{1000} * 4096 * 7);
}

}  // namespace
}  // namespace waymark
