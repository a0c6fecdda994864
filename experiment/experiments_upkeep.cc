// What is kept up beside decisions: looks over time, a bandit's shares; and policies that were never served.
#include <cmath>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "experiment/bandit/thompson.h"
#include "experiment/experiments_impl.h"
#include "experiment/report/bandit_comparison.h"
#include "experiment/report/looks.h"
#include "experiment/report/planned_looks.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;

constexpr double kSameShares = 1e-6;

absl::StatusOr<std::vector<double>> SharesAsked(const ExperimentRecord& record,
                                                const std::map<std::string, double>& asked) {
  std::vector<double> shares;
  std::vector<std::string> names;
  double sum = 0;
  size_t known = 0;
  for (const storage::ArmRecord& arm : record.arms()) {
    const auto found = asked.find(arm.name());
    known += found != asked.end();
    shares.push_back(found == asked.end() ? 0 : found->second);
    names.push_back(arm.name());
    if (!(shares.back() >= 0 && shares.back() <= 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("shares['", arm.name(), "']: is ", shares.back(), "; it lies in [0, 1]"));
    }
    sum += shares.back();
  }
  if (known < asked.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("shares: names an arm that is not there; there are ", absl::StrJoin(names, ", ")));
  }
  if (std::abs(sum - 1) > kSameShares) {
    return absl::InvalidArgumentError(absl::StrCat("shares: add up to ", sum, "; they must add up to 1"));
  }
  return shares;
}

absl::StatusOr<PolicyAnswer> PolicyFrom(const OutcomeTable& table, const std::string& metric,
                                        const std::vector<double>& shares, const OffPolicyOptions& options) {
  std::vector<std::string> names;
  for (size_t m = 0; m < table.metrics().size(); ++m) {
    names.push_back(table.metrics()[m].name);
    if (names.back() == metric) return EstimatePolicy(table, m, CapOf(table, m), shares, options);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "metric: '", metric, "' is none of the experiment's; those are ", absl::StrJoin(names, ", ")));
}

}  // namespace

absl::Status Experiments::Impl::TakeLook(LiveExperiment& one, const ExperimentRecord& record) {
  std::lock_guard<std::mutex> follow(follow_mutex);
  const absl::Time now = options.clock->Now();
  const OutcomeTable& table = one.outcomes->table();
  const int64_t over_us = absl::ToUnixMicros(now) - table.metrics()[table.options().primary].window_us;
  int64_t units = 0;
  for (const int64_t of_arm : table.CountUnits(std::numeric_limits<int64_t>::min(), over_us)) units += of_arm;
  const bool due = LookIsDue(one.looks, record, now), planned = PlannedLookIsDue(record, one.looks, units);
  if (!due && !planned) return absl::OkStatus();
  const int before = one.looks.looks_size() + one.looks.planned_size();
  ReportInput input = InputOf(one, record, MeasuresOf(one, record));
  if (due) AddLook(ComparePrimary(input), now, &one.looks);
  if (planned) {
    input.exposed_until_us = over_us;
    AddPlannedLook(record, ComparePrimary(input), units, now, &one.looks);
  }
  const int after = one.looks.looks_size() + one.looks.planned_size();
  return after == before ? absl::OkStatus() : store->PutLooks(scope, one.looks);
}

absl::Status Experiments::Impl::MoveShares(LiveExperiment& one, const ExperimentRecord& record) {
  if (record.mode() != ExperimentRecord::BANDIT || record.state() != ExperimentRecord::RUNNING) {
    return absl::OkStatus();
  }
  const int64_t now_us = absl::ToUnixMicros(options.clock->Now());
  {
    std::lock_guard<std::mutex> lock(one.served_mutex);
    if (one.served.shares_size() > 0 && now_us - one.served.shares_time_us() < record.bandit_update_us()) {
      return absl::OkStatus();
    }
  }
  std::vector<BanditArm> arms;
  {
    std::lock_guard<std::mutex> follow(follow_mutex);
    const ArmCounts counts = CountOutcomes(one.outcomes->table(), now_us);
    for (size_t arm = 0; arm < counts.units.size(); ++arm) {
      arms.push_back({counts.successes[arm], counts.units[arm] - counts.successes[arm]});
    }
  }
  // The same outcomes at the same time give the same shares.
  std::mt19937_64 random(static_cast<uint64_t>(now_us));
  std::uniform_real_distribution<double> uniform;
  const std::vector<double> shares =
      TopTwoShares(arms, {.floor = record.bandit_floor()}, [&] { return uniform(random); });
  std::unique_lock<std::shared_mutex> lock(mutex);
  {
    std::lock_guard<std::mutex> served(one.served_mutex);
    one.served.mutable_shares()->Assign(shares.begin(), shares.end());
    one.served.set_shares_time_us(now_us);
    one.served_changed = true;
  }
  RebuildPlan();
  return absl::OkStatus();
}

absl::StatusOr<PolicyAnswer> Experiments::EvaluatePolicy(const std::string& id,
                                                         const PolicyQuestion& question) {
  auto record = Get(id);
  if (!record.ok()) return record.status();
  auto shares = SharesAsked(*record, question.shares);
  if (!shares.ok()) return shares.status();
  if (record->state() == ExperimentRecord::DRAFT) {
    return absl::FailedPreconditionError(
        absl::StrCat("experiment '", id, "' is a draft, nothing has been logged: start it first"));
  }
  if (record->mode() == ExperimentRecord::INTERLEAVED) {
    return absl::FailedPreconditionError(absl::StrCat(
        "experiment '", id, "' is interleaved: both arms made each list, so no arm was given out by itself"));
  }
  const std::string& wanted = question.metric.empty() ? record->primary_metric() : question.metric;
  absl::StatusOr<PolicyAnswer> answer = absl::InternalError("not made");
  absl::Status status = impl_->WithFigures(*record, [&](LiveExperiment& one) {
    answer = PolicyFrom(one.outcomes->table(), wanted, *shares,
                        {.alpha = record->alpha(), .weight_cap = question.weight_cap});
  });
  if (!status.ok()) return status;
  return answer;
}

}  // namespace waymark
