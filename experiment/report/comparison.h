// One metric of one treatment against the control: from sums over units to effects.
#pragma once
#include <vector>

#include "experiment/outcomes/outcome_table.h"
#include "experiment/report/report.h"

namespace waymark {

struct TestSettings {
  double alpha = .05, tuning = 5000;
};

// The cap of a metric as the units exposed at `until_us` or before are now; 0: none.
double CapOf(const OutcomeTable& table, size_t metric, int64_t until_us = OutcomeTable::kAlways);

// groups: [arm] of one segment, or of all together. Fills everything but names and adjusted_p.
Comparison CompareSums(const MetricPlan& metric, const std::vector<statistics::PairMoments>& groups,
                       size_t arm, const TestSettings& settings);
// values: [arm][unit], of QUANTILE metrics.
Comparison CompareQuantiles(const MetricPlan& metric, const std::vector<std::vector<double>>& values,
                            size_t arm, const TestSettings& settings);

// Of treatments by the primary metric: better than the control at an adjusted p under alpha, and of those the
// one with the largest effect. Empty: none.
std::string BestArm(const std::vector<Comparison>& primary, double alpha);

}  // namespace waymark
