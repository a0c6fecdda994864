#include <cmath>
#include <vector>

#include "recommend/network/causal_attention.h"
#include "recommend/network/counter_random.h"
#include "recommend/network/fast_exp.h"
#include "recommend/network/pointwise_kernels.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

std::vector<float> Noise(size_t count, uint64_t seed) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(2 * RandomUnit(seed, i) - 1);
  return values;
}

TEST_CASE("The fast exponential agrees with the library's over its whole range") {
  for (double x = -86.5; x < 86.5; x += 0.0137) {
    const double expected = std::exp(static_cast<double>(static_cast<float>(x)));
    CHECK(std::abs(FastExp(static_cast<float>(x)) - expected) <= 3e-7 * expected);
  }
  CHECK(FastExp(0) == 1.0f);
  CHECK(FastExp(-1e30f) < 1e-37f);
  CHECK(std::isfinite(FastExp(1e30f)));
}

TEST_CASE("Time buckets double, and simultaneous or disordered events share the first") {
  const int64_t s = 1000000;
  CHECK(TimeBucket(0, 0, 32) == 0);
  CHECK(TimeBucket(5 * s, 0, 32) == 0);
  CHECK(TimeBucket(0, s / 2, 32) == 1);  // less than a second: log2(0 + 1) = 0
  CHECK(TimeBucket(0, 1 * s, 32) == 2);
  CHECK(TimeBucket(0, 2 * s, 32) == 2);
  CHECK(TimeBucket(0, 3 * s, 32) == 3);
  CHECK(TimeBucket(0, 86400 * s, 32) == 17);  // 2^16 <= 86,401 < 2^17
  CHECK(TimeBucket(0, int64_t{1} << 62, 8) == 7);
  CHECK(TimeBucket(INT64_MIN, INT64_MAX, 64) == 45);  // 2^64 us is 2^44.07 s
}

TEST_CASE("Attention equals the plain formula in double precision") {
  const size_t width = 12, heads = 3, d = 4, limit = 9, stride = 40;
  const int buckets = 8;
  SequenceLayout layout(buckets);
  layout.Add({0, 1000000, 5000000, 5000000, 90000000});
  layout.Add({7});
  layout.Add({0, 1, 2, 3, 4000000, 5, 6, 7, 8000000});
  const std::vector<float> qkv = Noise(layout.tokens() * stride, 1);
  const std::vector<float> position = Noise(heads * limit, 2), time = Noise(heads * buckets, 3);
  std::vector<float> out(layout.tokens() * width), p(heads * layout.pairs()), scratch;
  CausalAttentionForward({width, heads, limit, stride}, layout, qkv.data(), qkv.data() + width,
                         qkv.data() + 2 * width, {position.data(), time.data()}, out.data(), p.data(),
                         scratch);
  for (size_t s = 0; s < layout.sequences(); ++s) {
    for (size_t i = 0; i < layout.length(s); ++i) {
      for (size_t h = 0; h < heads; ++h) {
        const auto at = [&](size_t token, size_t part, size_t c) {
          return static_cast<double>(qkv[(layout.start(s) + token) * stride + part * width + h * d + c]);
        };
        std::vector<double> weight(i + 1);
        double total = 0;
        for (size_t j = 0; j <= i; ++j) {
          double score = position[h * limit + limit - 1 - (i - j)] +
                         time[h * buckets + layout.buckets(s)[i * layout.length(s) + j]];
          for (size_t c = 0; c < d; ++c) score += at(i, 0, c) * at(j, 1, c) / 2;  // sqrt(4)
          total += weight[j] = std::exp(score);
        }
        for (size_t c = 0; c < d; ++c) {
          double expected = 0;
          for (size_t j = 0; j <= i; ++j) expected += weight[j] / total * at(j, 2, c);
          CHECK(out[(layout.start(s) + i) * width + h * d + c] == Approx(expected).margin(1e-6));
        }
      }
    }
  }
}

TEST_CASE("Dropout keeps the mean, drops its share, and gives the same mask again") {
  std::vector<float> ones(100000, 1.0f), again(100000, 1.0f);
  const DropoutMask mask = DropoutMask::Make(0.3, 42);
  ApplyDropout(ones.data(), ones.size(), mask);
  ApplyDropout(again.data(), again.size(), mask);
  CHECK(ones == again);
  double sum = 0;
  size_t dropped = 0;
  for (float x : ones) {
    sum += x;
    dropped += x == 0;
    if (x != 0) CHECK(x == Approx(1 / 0.7));
  }
  // Five standard deviations.
  CHECK(std::abs(static_cast<double>(dropped) / 100000 - 0.3) < 5 * std::sqrt(0.3 * 0.7 / 100000));
  CHECK(std::abs(sum / 100000 - 1) < 0.012);
}

}  // namespace
}  // namespace waymark
