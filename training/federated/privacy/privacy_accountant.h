// How much rounds of the Poisson-subsampled Gaussian mechanism tell about one client, as (epsilon, delta):
// Renyi differential privacy at integer orders (Mironov, Talwar, Zhang 2019, arXiv 1908.10530), rounds add
// up.
//
//   RDP(a) = 1 / (a - 1) * log sum over k = 0..a of C(a, k) (1 - q)^(a - k) q^k exp(k (k - 1) / (2 z^2))
//
// q: the rate at which a client is drawn, each by itself; z: noise multiplier, deviation of the noise in
// clipping norms. Neighbours differ by one client, added or removed. Who is drawn must be unknown to whom the
// guarantee is about.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace waymark {

// Of one round at one order. noise > 0, 0 <= rate <= 1, order >= 2.
double RenyiDivergence(double noise, double rate, int order);

struct PrivacySpent {
  double epsilon = 0;
  int order = 0;  // of the best bound
};

enum class RdpConversion {
  kClassic,   // epsilon = RDP + log(1 / delta) / (a - 1): Mironov 2017, proposition 3
  kImproved,  // ... + log((a - 1) / a) - (log delta + log a) / (a - 1): Canonne, Kamath, Steinke 2020
};

// Orders 2 to 256. No noise: infinity. delta in (0, 1).
PrivacySpent SpentPrivacy(double noise, double rate, int64_t rounds, double delta, RdpConversion conversion);

}  // namespace waymark
