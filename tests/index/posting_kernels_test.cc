#include "index/posting_kernels.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("the first bound or score that reaches a threshold is found, or none") {
  std::mt19937 random(9);
  for (int round = 0; round < 4000; ++round) {
    const size_t count = random() % 200;
    const uint32_t range = 1u << (random() % 17);
    std::vector<uint16_t> bounds(count);
    std::vector<FixedScore> scores(count + kBlockPadding, std::numeric_limits<FixedScore>::max());
    for (size_t i = 0; i < count; ++i) {
      bounds[i] = static_cast<uint16_t>(random() % range);
      scores[i] = static_cast<FixedScore>(random() % range);
    }
    const size_t from = count == 0 ? 0 : random() % (count + 1);
    const uint32_t least = random() % (range + 1);
    size_t bound = from, score = from;
    while (bound < count && bounds[bound] < static_cast<uint16_t>(std::min(least, 65535u))) ++bound;
    while (score < count && scores[score] < static_cast<FixedScore>(least)) ++score;
    INFO("count " << count << ", from " << from << ", least " << least);
    CHECK(FindBound(bounds.data(), from, count, static_cast<uint16_t>(std::min(least, 65535u))) == bound);
    CHECK(FindScore(scores.data(), from, count, static_cast<FixedScore>(least)) == score);
  }
}

}  // namespace
}  // namespace waymark
