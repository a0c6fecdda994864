// Why a candidate has its score: the linear skip exactly, the rest by integrated gradients from the average
// candidate (all of z zero). Sundararajan, Taly, Yan: Axiomatic Attribution for Deep Networks (2017).
#pragma once
#include <vector>

#include "rank/network/ranker_network.h"

namespace waymark {

struct RankerAttribution {
  float baseline = 0;                       // the score of z = 0
  std::vector<float> dense;                 // [candidates, features]
  std::vector<float> item, history, query;  // [candidates]
};

// Of the first head. x: [1, candidates, features], z: [1, candidates, joined], not made in inference mode.
RankerAttribution Attribute(const RankerNetworkImpl& network, const torch::Tensor& x, const torch::Tensor& z);

}  // namespace waymark
