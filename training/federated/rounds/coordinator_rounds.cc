// How the coordinator's rounds begin, go from stage to stage, and end: everything that Tick() does.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "training/federated/privacy/gaussian_noise.h"
#include "training/federated/privacy/norm_clipping.h"
#include "training/federated/rounds/coordinator.h"
#include "training/federated/rounds/update_words.h"
#include "training/federated/secure/secure_random.h"

namespace waymark {
namespace {

// Whether a client is drawn, each by itself and unforeseeable.
absl::StatusOr<bool> Drawn(double rate) {
  uint64_t bits = 0;
  if (auto status = FillRandom({reinterpret_cast<uint8_t*>(&bits), sizeof(bits)}); !status.ok())
    return status;
  return static_cast<double>(bits >> 11) * 0x1.0p-53 < rate;
}

}  // namespace

absl::Duration Coordinator::DeadlineOfStage() const {
  return round_->stage() == RoundStage::kUpdates ? options_.training_deadline : options_.stage_deadline;
}

absl::Status Coordinator::Tick() {
  std::lock_guard lock(mutex_);
  if (kept_.state.finished_rounds() >= options_.plan.rounds()) return absl::OkStatus();
  if (!round_) return BeginWhenGathered();
  if (round_->Complete() || options_.clock->Now() >= deadline_) return EndStage();
  return absl::OkStatus();
}

absl::Status Coordinator::BeginWhenGathered() {
  const std::vector<std::string> live = Live();
  const absl::Time now = options_.clock->Now();
  if (live.size() < options_.quorum) {
    quorum_since_ = absl::InfiniteFuture();
    return absl::OkStatus();
  }
  quorum_since_ = std::min(quorum_since_, now);
  const bool all = options_.expected_sites != 0 && live.size() >= options_.expected_sites;
  if (!all && now < quorum_since_ + options_.gather) return absl::OkStatus();
  return Begin(live);
}

absl::Status Coordinator::Begin(const std::vector<std::string>& live) {
  std::vector<std::string> drawn;
  for (const std::string& name : live) {
    auto taken = Drawn(options_.plan.sampling_rate());
    if (!taken.ok()) return taken.status();
    if (*taken) drawn.push_back(name);
  }
  if (drawn.size() > static_cast<size_t>(options_.plan.most_sites())) {
    spdlog::warn("too_many_sites drawn={} most_sites={}", drawn.size(), options_.plan.most_sites());
    drawn.resize(options_.plan.most_sites());
  }
  began_ = options_.clock->Now();
  quorum_since_ = absl::InfiniteFuture();
  const int round = kept_.state.finished_rounds() + 1;
  if (drawn.size() < options_.quorum) {
    // To draw again would be another mechanism than the accountant's.
    federated::RoundReport report;
    report.set_skipped(true);
    report.set_participants(static_cast<int>(drawn.size()));
    spdlog::warn("round_skipped round={} drawn={} quorum={}", round, drawn.size(), options_.quorum);
    return Keep(std::move(report));
  }
  live_when_drawn_ = live.size();
  round_.emplace(absl::StrCat(options_.plan.session(), " ", round, " ", attempt_), drawn, options_.quorum,
                 UpdateWords(layout_.total()));
  deadline_ = began_ + DeadlineOfStage();
  spdlog::info("round_began round={} attempt={} sites={}", round, attempt_, absl::StrJoin(drawn, ","));
  return absl::OkStatus();
}

absl::Status Coordinator::EndStage() {
  const int round = kept_.state.finished_rounds() + 1;
  const RoundStage stage = round_->stage();
  const bool late = !round_->Complete();
  auto status = round_->Close();
  if (status.ok()) {
    spdlog::info("stage_ended round={} attempt={} stage={} deadline_passed={}", round, attempt_,
                 NameOf(stage), late);
    deadline_ = options_.clock->Now() + DeadlineOfStage();
    if (round_->stage() != RoundStage::kDone) return absl::OkStatus();
    federated::RoundReport report;
    status = Apply(&report);
    if (status.ok()) return Keep(std::move(report));
  }
  spdlog::warn("round_given_up round={} attempt={} stage={} reason=\"{}\"", round, attempt_, NameOf(stage),
               std::string(status.message()));
  round_.reset();
  ++attempt_;
  return absl::OkStatus();
}

// The sum becomes a step of the model.
absl::Status Coordinator::Apply(federated::RoundReport* report) {
  auto words = round_->Sum();
  if (!words.ok()) return words.status();
  const federated::Plan& plan = options_.plan;
  auto sum = DecodeSum(plan, *words, round_->survivors());
  if (!sum.ok()) return sum.status();
  double weight = sum->weight;
  if (plan.noise() > 0) {
    if (auto status = AddGaussianNoise(plan.noise() * plan.update_clip(), absl::MakeSpan(sum->weighted));
        !status.ok()) {
      return status;
    }
    // The expected number (McMahan et al. 2018): whether one site took part must not change the divisor.
    weight = std::max(1.0, plan.sampling_rate() * static_cast<double>(live_when_drawn_));
  }
  for (float& value : sum->weighted) value = static_cast<float>(value / weight);
  report->set_participants(static_cast<int>(round_->participants()));
  report->set_survivors(static_cast<int>(round_->survivors()));
  for (const std::string& name : round_->Dropped()) report->add_dropped(name);
  report->set_update_norm(L2Norm(sum->weighted));
  MoveModel(plan, layout_, absl::MakeSpan(sum->weighted), &kept_.moments, absl::MakeSpan(kept_.model));
  report->set_events(sum->events);
  if (sum->loss) report->set_loss(*sum->loss);
  if (sum->ndcg10) report->set_ndcg10(*sum->ndcg10);
  return absl::OkStatus();
}

absl::Status Coordinator::Keep(federated::RoundReport report) {
  const int round = kept_.state.finished_rounds() + 1;
  report.set_round(round);
  report.set_attempt(attempt_);
  report.set_epsilon(EpsilonAfter(round));
  report.set_seconds(absl::ToDoubleSeconds(options_.clock->Now() - began_));
  kept_.state.set_finished_rounds(round);
  *kept_.state.mutable_last_report() = report;
  if (auto status = SaveCoordinatorState(options_.state_folder, &kept_); !status.ok()) return status;
  if (auto status = AppendReport(options_.state_folder, report); !status.ok()) return status;
  model_ = std::make_shared<const std::vector<float>>(kept_.model);
  round_.reset();
  attempt_ = 1;
  spdlog::info(
      "round_finished round={} survivors={} dropped=\"{}\" update_norm={:.3f} loss={:.4f} ndcg10={:.4f} "
      "epsilon={:.3f} seconds={:.1f}",
      round, report.survivors(), absl::StrJoin(report.dropped(), ","), report.update_norm(), report.loss(),
      report.ndcg10(), report.epsilon(), report.seconds());
  return absl::OkStatus();
}

}  // namespace waymark
