#include "experiment/statistics/welch.h"

#include <cmath>

#include "experiment/statistics/distributions.h"

namespace waymark::statistics {

TestResult WelchTest(const Effect& effect, double alpha) {
  const double error = std::sqrt(effect.variance);
  if (error == 0) {
    return {effect.estimate, 0, effect.estimate, effect.estimate, effect.estimate == 0 ? 1.0 : 0.0};
  }
  const double half = StudentQuantile(1 - alpha / 2, effect.degrees) * error;
  return {effect.estimate, error, effect.estimate - half, effect.estimate + half,
          TwoSidedStudent(effect.estimate / error, effect.degrees)};
}

}  // namespace waymark::statistics
