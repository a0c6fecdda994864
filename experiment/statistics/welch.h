// Welch's t-test: valid at one look that was fixed beforehand.
#pragma once
#include "experiment/statistics/effect.h"

namespace waymark::statistics {

// t = estimate / se against Student's distribution with the effect's degrees; the interval is
// estimate -+ t_{1 - alpha/2} se. (Welch 1947: The generalization of «Student's» problem when several
// different population variances are involved.) Without any variance, p is 0 or 1.
TestResult WelchTest(const Effect& effect, double alpha);

}  // namespace waymark::statistics
