#include "training/federated/rounds/update_words.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "training/federated/privacy/fixed_point.h"
#include "training/federated/privacy/norm_clipping.h"

namespace waymark {
namespace {

// Statistics, each as a share of its largest value.
enum Statistic : size_t { kWeight, kEvents, kLoss, kNdcg, kMeasured, kStatistics };
constexpr double kLargestLoss = 100;

FixedPoint GridOf(const federated::Plan& plan) {
  return FixedPoint(plan.update_clip(), static_cast<size_t>(plan.most_sites()));
}

double EventShare(const federated::Plan& plan, const LocalUpdate& update) {
  return std::min(1.0, static_cast<double>(update.events) / static_cast<double>(plan.most_events()));
}

}  // namespace

size_t UpdateWords(size_t numbers) { return numbers + kStatistics; }

absl::StatusOr<std::vector<uint64_t>> EncodeUpdate(const federated::Plan& plan, LocalUpdate* update) {
  auto norm = ClipToNorm(plan.update_clip(), absl::MakeSpan(update->moved));
  if (!norm.ok()) return norm.status();
  const double weight = plan.equal_weights() ? 1 : EventShare(plan, *update);
  std::vector<float> values(UpdateWords(update->moved.size()), 0);
  for (size_t i = 0; i < update->moved.size(); ++i) {
    values[i] = static_cast<float>(weight * update->moved[i]);
  }
  // With noise nothing is told that has none.
  if (plan.noise() == 0) {
    float* statistics = values.data() + update->moved.size();
    const auto put = [&](Statistic which, double share) {
      statistics[which] = static_cast<float>(std::clamp(share, 0.0, 1.0) * plan.update_clip() * (1 - 1e-7));
    };
    put(kWeight, weight);
    put(kEvents, EventShare(plan, *update));
    put(kLoss, update->loss / kLargestLoss);
    put(kNdcg, update->users > 0 ? update->ndcg10 : 0);
    put(kMeasured, update->users > 0 ? 1 : 0);
  }
  return GridOf(plan).Encode(values);
}

absl::StatusOr<UpdateSum> DecodeSum(const federated::Plan& plan, absl::Span<const uint64_t> words,
                                    size_t survivors) {
  UpdateSum sum;
  sum.weighted = GridOf(plan).Decode(words);
  std::vector<double> shares;
  for (size_t s = 0; s < kStatistics; ++s) {
    shares.push_back(sum.weighted[words.size() - kStatistics + s] / plan.update_clip());
  }
  sum.weighted.resize(words.size() - kStatistics);
  const double norm = L2Norm(sum.weighted), most = static_cast<double>(survivors) * plan.update_clip();
  const bool shares_fit = std::all_of(shares.begin(), shares.end(), [&](double share) {
    return share >= 0 && share <= static_cast<double>(survivors) + 1e-3;
  });
  if (!(norm <= most * (1 + 1e-6)) || !shares_fit) {
    return absl::InvalidArgumentError(absl::StrCat("the sum of ", survivors, " updates has a norm of ", norm,
                                                   ", and clipped ones reach at most ", most,
                                                   ": some site sent something else; the round is not used"));
  }
  if (plan.noise() > 0) {
    sum.weight = static_cast<double>(survivors);
    return sum;
  }
  sum.weight = shares[kWeight];
  if (!(sum.weight > 0)) return absl::InvalidArgumentError("the weights of all sites are 0");
  sum.events = std::llround(shares[kEvents] * static_cast<double>(plan.most_events()));
  sum.loss = shares[kLoss] * kLargestLoss / static_cast<double>(survivors);
  if (shares[kMeasured] > 0.5) sum.ndcg10 = shares[kNdcg] / shares[kMeasured];
  return sum;
}

}  // namespace waymark
