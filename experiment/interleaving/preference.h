// Which of two interleaved rankings readers prefer, from the credits of many lists.
//
//   Preference preference;
//   for (...) preference.Add(CreditOf(list, clicked));
//   PreferenceResult result = preference.Analyse({});
#pragma once
#include "experiment/interleaving/team_draft.h"
#include "experiment/statistics/confidence_sequence.h"
#include "experiment/statistics/moments.h"

namespace waymark {

struct PreferenceResult {
  double lists = 0, a_wins = 0, b_wins = 0, ties = 0;
  // (wins of B + ties / 2) / lists - 1/2: above 0, B is preferred (Chapelle, Joachims, Radlinski, Yue:
  // Large-scale validation and analysis of interleaved search evaluation, TOIS 2012, equation 1).
  double delta = 0;
  double sign_test_p = 1;  // two-sided, ties left out; valid at one look that was fixed beforehand
  // Of the mean of +1 (B wins), 0 and -1; valid at every look. The variance is that with one more win of each
  // (as Agresti and Caffo 2000 do for rates), so that a few lists which all go one way are not certain.
  statistics::TestResult sequence;
};

// Lists of one reader are not independent: add up a reader's credit first where readers see many.
class Preference {
 public:
  void Add(const ListCredit& credit);
  void Merge(const Preference& other);
  PreferenceResult Analyse(const statistics::ConfidenceSequenceOptions& options) const;

 private:
  double a_wins_ = 0, b_wins_ = 0, ties_ = 0;
};

}  // namespace waymark
