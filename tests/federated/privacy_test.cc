#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "training/federated/model/server_optimizer.h"
#include "training/federated/privacy/fixed_point.h"
#include "training/federated/privacy/gaussian_noise.h"
#include "training/federated/privacy/norm_clipping.h"
#include "training/federated/privacy/privacy_accountant.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("The accountant gives the published epsilons of the Poisson-subsampled Gaussian") {
  const PrivacySpent classic = SpentPrivacy(1.1, .01, 1000, 1e-5, RdpConversion::kClassic);
  CHECK(classic.epsilon == Approx(2.087).margin(5e-4));
  CHECK(classic.order == 10);
  const PrivacySpent improved = SpentPrivacy(1.1, .01, 1000, 1e-5, RdpConversion::kImproved);
  CHECK(improved.epsilon == Approx(1.725).margin(5e-4));
  CHECK(improved.order == 9);
}

TEST_CASE("Without sampling the divergence is that of the Gaussian, order / (2 z^2)") {
  CHECK(RenyiDivergence(2, 1, 8) == Approx(1.0));
  CHECK(RenyiDivergence(1, 1, 3) == Approx(1.5));
  // Order 2 by hand: log((1 - q)^2 + 2 q (1 - q) + q^2 e^(1 / z^2)).
  CHECK(RenyiDivergence(1, .5, 2) == Approx(std::log(.75 + .25 * std::exp(1.0))));
  CHECK(RenyiDivergence(1, 0, 5) == 0);
  CHECK(std::isinf(SpentPrivacy(0, .5, 1, 1e-5, RdpConversion::kClassic).epsilon));
  CHECK(SpentPrivacy(1, .5, 0, 1e-5, RdpConversion::kClassic).epsilon == 0);
}

TEST_CASE("Clipping scales to the limit by the L2 norm and leaves smaller updates alone") {
  std::vector<float> values{3, -4};
  CHECK(*ClipToNorm(10, absl::MakeSpan(values)) == Approx(5));
  CHECK(values == std::vector<float>{3, -4});
  CHECK(*ClipToNorm(1, absl::MakeSpan(values)) == Approx(5));
  CHECK(values[0] == Approx(.6));
  CHECK(values[1] == Approx(-.8));
  CHECK(L2Norm(values) <= 1);
  std::vector<float> many(100000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = std::sin(static_cast<float>(i));
  REQUIRE(ClipToNorm(.3, absl::MakeSpan(many)).ok());
  CHECK(L2Norm(many) <= .3);
  CHECK(L2Norm(many) == Approx(.3));
}

TEST_CASE("An update that is not finite is refused, with the number's place") {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> values{1, 2, bad};
    CHECK_THAT(std::string(ClipToNorm(1, absl::MakeSpan(values)).status().message()),
               Contains("number 2 of 3"));
    CHECK_THAT(std::string(FixedPoint(10, 4).Encode(values).status().message()), Contains("number 2"));
  }
  CHECK_THAT(std::string(FixedPoint(10, 4).Encode({10.5f}).status().message()), Contains("at most 10"));
}

TEST_CASE("Fixed-point sums of as many sites as allowed are exact, at both ends of the range") {
  const FixedPoint grid(2, 4);  // a little less than 2^63 / 4 = 2^61 steps a bound
  CHECK(grid.step() == Approx(0x1p-60).epsilon(1e-12));
  const std::vector<float> ends{2, -2, 0, 1};
  const auto words = grid.Encode(ends);
  REQUIRE(words.ok());
  CHECK((*words)[0] < uint64_t{1} << 61);
  CHECK((*words)[0] > (uint64_t{1} << 61) - (uint64_t{1} << 18));
  std::vector<uint64_t> sum(4, 0);
  for (int site = 0; site < 4; ++site) {
    for (size_t i = 0; i < 4; ++i) sum[i] += (*words)[i];
  }
  CHECK(grid.Decode(sum) == std::vector<float>{8, -8, 0, 4});
  // Towards zero: the norm does not grow.
  const FixedPoint coarse(0x1p52, 1024);  // steps of half
  CHECK(coarse.Decode(*coarse.Encode({.9f, -.9f, 1.3f}))[0] <= .9f);
  CHECK(coarse.Decode(*coarse.Encode({.9f, -.9f, 1.3f}))[1] >= -.9f);
}

TEST_CASE("Noise has the deviation that is asked for") {
  std::vector<float> values(200001, 5);
  REQUIRE(AddGaussianNoise(3, absl::MakeSpan(values)).ok());
  double mean = 0, square = 0, fourth = 0;
  for (float v : values) mean += v / static_cast<double>(values.size());
  for (float v : values) {
    square += (v - mean) * (v - mean) / values.size();
    fourth += std::pow(v - mean, 4) / values.size();
  }
  CHECK(mean == Approx(5).margin(.05));                       // 7 deviations of the mean
  CHECK(std::sqrt(square) == Approx(3).margin(.04));          // 8 of the deviation's
  CHECK(fourth / (square * square) == Approx(3).margin(.1));  // a Gaussian's kurtosis
  CHECK(absl::IsInvalidArgument(AddGaussianNoise(-1, absl::MakeSpan(values))));
}

TEST_CASE("FedAvg adds the mean, FedAdam's first two steps are those worked out by hand") {
  std::vector<float> model{1, 2};
  ServerMoments moments;
  ApplyMeanUpdate({.rule = ServerRule::kFedAvg, .rate = 2}, {.5f, -.25f}, &moments, absl::MakeSpan(model));
  CHECK(model == std::vector<float>{2, 1.5});
  CHECK(moments.first.empty());

  model = {1};
  const ServerOptimizerOptions adam{ServerRule::kFedAdam, .1, .9, .99, 1e-3};
  ApplyMeanUpdate(adam, {.5f}, &moments, absl::MakeSpan(model));
  // m = .05, v = .0025: 1 + .1 * .05 / (.05 + .001)
  CHECK(model[0] == Approx(1 + .1 * .05 / .051));
  ApplyMeanUpdate(adam, {-.5f}, &moments, absl::MakeSpan(model));
  // m = .045 - .05 = -.005, v = .002475 + .0025 = .004975
  CHECK(model[0] == Approx(1 + .1 * .05 / .051 - .1 * .005 / (std::sqrt(.004975) + .001)));
}

}  // namespace
}  // namespace waymark
