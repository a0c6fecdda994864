#include "experiment/statistics/power.h"

#include <cmath>

#include "experiment/statistics/distributions.h"

namespace waymark::statistics {
namespace {

double BothQuantiles(const PowerQuestion& question) {
  return NormalQuantile(1 - question.alpha / 2) + NormalQuantile(question.power);
}
double Variances(const PowerQuestion& question) {
  return question.control_variance + question.treatment_variance;
}

}  // namespace

double UnitsPerGroup(const PowerQuestion& question) {
  const double ratio = BothQuantiles(question) / question.effect;
  return ratio * ratio * Variances(question);
}

PowerQuestion ProportionQuestion(double baseline, double effect, double alpha, double power) {
  const double other = baseline + effect;
  return {effect, baseline * (1 - baseline), other * (1 - other), alpha, power};
}

double MinimalDetectableEffect(const PowerQuestion& question, double units) {
  return BothQuantiles(question) * std::sqrt(Variances(question) / units);
}

double PowerWith(const PowerQuestion& question, double units) {
  const double shift = std::abs(question.effect) / std::sqrt(Variances(question) / units);
  const double critical = NormalQuantile(1 - question.alpha / 2);
  return NormalTail(critical - shift) + NormalTail(critical + shift);
}

}  // namespace waymark::statistics
