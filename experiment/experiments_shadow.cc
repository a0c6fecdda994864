// Copies of requests: which releases score them, and what became of them.
#include <algorithm>

#include "experiment/experiments_impl.h"

namespace waymark {
namespace {

// A copy in so many looks at the guardrails.
constexpr int64_t kCopiesALook = 10;

template <class Shadows>
auto FindShadow(const Shadows& shadows, const std::string& experiment) {
  return std::find_if(shadows.begin(), shadows.end(),
                      [&](const auto& shadow) { return shadow.entry.record.id() == experiment; });
}

}  // namespace

bool Experiments::any_shadow() const { return !impl_->CurrentPlan()->shadows.empty(); }

std::vector<Experiments::Shadow> Experiments::ShadowsOf(const google::protobuf::Struct& context) const {
  std::vector<Shadow> found;
  const auto plan = impl_->CurrentPlan();
  for (const Plan::Shadow& shadow : plan->shadows) {
    if (shadow.plan->targeting == nullptr || !shadow.plan->targeting->Matches(context)) continue;
    Shadow& made = found.emplace_back();
    made.experiment = shadow.plan->id;
    for (size_t arm = 1; arm < shadow.plan->arms.size(); ++arm) {
      made.releases.push_back(shadow.plan->arms[arm].release);
    }
  }
  return found;
}

bool Experiments::RecordShadow(const std::string& experiment, const ShadowAnswer& served,
                               absl::Span<const ShadowAnswer> copies) {
  const auto plan = impl_->CurrentPlan();
  const auto shadow = FindShadow(plan->shadows, experiment);
  if (shadow == plan->shadows.end()) return false;  // it has left the shadow meanwhile
  LiveExperiment& live = *shadow->entry.live;
  {
    std::lock_guard<std::mutex> lock(live.served_mutex);
    AddAnswer(served.measured, &live.shadow[0].copies);
    for (size_t i = 0; i < copies.size(); ++i) AddCopy(served, copies[i], &live.shadow[i + 1]);
    live.served_changed = true;
    if (static_cast<int64_t>(live.shadow[0].copies.answers()) % kCopiesALook != 0) return false;
  }
  const storage::ExperimentRecord& record = shadow->entry.record;
  const auto guardrails = CheckGuardrails(record, Impl::MeasuresOf(live, record).served);
  return std::any_of(guardrails.begin(), guardrails.end(), [](const auto& one) { return one.violated; });
}

void Experiments::SkipShadow(const std::string& experiment) {
  const auto plan = impl_->CurrentPlan();
  const auto shadow = FindShadow(plan->shadows, experiment);
  if (shadow == plan->shadows.end()) return;
  LiveExperiment& live = *shadow->entry.live;
  std::lock_guard<std::mutex> lock(live.served_mutex);
  for (size_t arm = 1; arm < live.shadow.size(); ++arm) ++live.shadow[arm].skipped;
  live.served_changed = true;
}

}  // namespace waymark
