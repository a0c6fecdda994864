#include "rank/weighted_sum_ranker.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rank/list_column.h"
#include "rank/ranker_input.h"
#include "rank/text_score.h"

namespace waymark {
namespace {

using Weights = std::vector<std::pair<Signal, double>>;

const Weights& DefaultFeedWeights() {
  static const Weights* const weights = new Weights{
      {Signal::kRetrieverScore, 1.0},  {Signal::kCovisitationScore, 1.0}, {Signal::kDecayedEase, 1.0},
      {Signal::kTransitionScore, 0.5}, {Signal::kSimilarScore, 1.0},      {Signal::kPopularityScore, 0.25},
      {Signal::kCategoryAffinity, 0.1}};
  return *weights;
}

const Weights& DefaultSearchWeights() {
  static const Weights* const weights = [] {
    auto* all = new Weights(kTextWeights.begin(), kTextWeights.end());
    all->insert(all->end(), {{Signal::kRetrieverScore, 0.2},
                             {Signal::kSimilarScore, 0.2},
                             {Signal::kPopularityScore, 0.2},
                             {Signal::kCovisitationScore, 0.15},
                             {Signal::kDecayedEase, 0.15},
                             {Signal::kTransitionScore, 0.05},
                             {Signal::kCategoryAffinity, 0.05}});
    return all;
  }();
  return *weights;
}

class WeightedSumRanker : public Ranker {
 public:
  // `names_first`: searches add TitleIsQuery().
  WeightedSumRanker(Weights feed, Weights search, bool names_first)
      : feed_(std::move(feed)), search_(std::move(search)), names_first_(names_first) {}

  const std::string& version() const override { return version_; }
  const std::string& retriever_sha256() const override { return any_retriever_; }
  bool knows_queries() const override { return true; }

  absl::StatusOr<RankerScores> Score(const RequestContext& context, absl::Span<const Candidate> candidates,
                                     bool explain, Deadline deadline) const override {
    const size_t n = candidates.size();
    if (n > kRankerCandidates) {
      return absl::InvalidArgumentError(
          absl::StrCat(n, " candidates; a ranker takes at most ", kRankerCandidates));
    }
    if (deadline.Expired()) return absl::DeadlineExceededError("weighted sum: the deadline has passed");
    RankerScores scores;
    std::vector<double> sums(n, 0);
    if (explain) scores.explanations.resize(n);
    ListColumn column;
    for (const auto& [signal, weight] : context.query.empty() ? feed_ : search_) {
      column.Read(candidates, signal);
      for (size_t i = 0; i < n; ++i) {
        const bool title = names_first_ && signal == Signal::kKeywordTitleMatch;
        const double part = weight * column.Z(i) + (title ? TitleIsQuery(candidates[i]) : 0);
        sums[i] += part;
        if (!explain || !column.Has(i)) continue;
        scores.explanations[i].push_back(
            {std::string(SignalName(signal)), column.value(i), static_cast<float>(part)});
      }
    }
    scores.engagement.assign(sums.begin(), sums.end());
    return scores;
  }

 private:
  const Weights feed_, search_;
  const bool names_first_;
  const std::string version_ = "weighted-sum";
  const std::string any_retriever_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Ranker>> MakeWeightedSumRanker(const std::map<std::string, double>& weights) {
  if (weights.empty()) {
    return std::make_unique<WeightedSumRanker>(DefaultFeedWeights(), DefaultSearchWeights(), true);
  }
  Weights given;
  for (const auto& [name, weight] : weights) {
    const std::optional<Signal> signal = FindSignal(name);
    if (!signal) {
      return absl::InvalidArgumentError(
          absl::StrCat("signal_weights: there is no signal '", name, "'; names are in candidates/signals.h"));
    }
    // Beyond this, sums of many signals could leave the range of a float.
    if (!std::isfinite(weight) || std::abs(weight) > 1e6) {
      return absl::InvalidArgumentError(absl::StrCat("signal_weights: the weight of '", name, "' is ", weight,
                                                     "; it takes a number from -1e6 to 1e6"));
    }
    given.emplace_back(*signal, weight);
  }
  return std::make_unique<WeightedSumRanker>(given, given, false);
}

}  // namespace waymark
