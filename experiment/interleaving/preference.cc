#include "experiment/interleaving/preference.h"

#include <algorithm>

#include "experiment/statistics/distributions.h"

namespace waymark {

void Preference::Add(const ListCredit& credit) {
  const Team winner = credit.Winner();
  ++(winner == Team::kA ? a_wins_ : winner == Team::kB ? b_wins_ : ties_);
}

void Preference::Merge(const Preference& other) {
  a_wins_ += other.a_wins_;
  b_wins_ += other.b_wins_;
  ties_ += other.ties_;
}

PreferenceResult Preference::Analyse(const statistics::ConfidenceSequenceOptions& options) const {
  PreferenceResult result{
      .lists = a_wins_ + b_wins_ + ties_, .a_wins = a_wins_, .b_wins = b_wins_, .ties = ties_};
  if (result.lists < 2) return result;
  result.delta = (b_wins_ + ties_ / 2) / result.lists - 0.5;
  const double decided = a_wins_ + b_wins_;
  result.sign_test_p = std::min(1.0, 2 * statistics::FairCoinTail(std::max(a_wins_, b_wins_), decided));
  const statistics::Moments outcomes{result.lists, b_wins_ - a_wins_, decided};
  // One more win of each: a few lists that all go one way are not certain.
  const statistics::Moments smoothed{result.lists + 2, b_wins_ - a_wins_, decided + 2};
  result.sequence = statistics::ConfidenceSequence(
      {outcomes.Mean(), smoothed.Variance() / outcomes.n, outcomes.n, outcomes.n - 1}, options);
  return result;
}

}  // namespace waymark
