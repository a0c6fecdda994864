#include "training/federated/rounds/coordinator.h"

#include <google/protobuf/util/message_differencer.h>
#include <spdlog/spdlog.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "training/federated/privacy/privacy_accountant.h"
#include "training/federated/rounds/update_words.h"
#include "training/federated/secure/secure_random.h"

namespace waymark {
namespace {

constexpr int kProtocol = 1;
constexpr size_t kMostSitesKnown = 10000;
// A site that has not polled for so many intervals is not there.
constexpr int kIntervalsAlive = 20;

absl::StatusOr<std::string> NewSession() {
  uint8_t bytes[16];
  if (auto status = FillRandom(absl::MakeSpan(bytes)); !status.ok()) return status;
  return absl::BytesToHexString(std::string(reinterpret_cast<char*>(bytes), sizeof(bytes)));
}

absl::Status CheckOptions(const CoordinatorOptions& options) {
  const size_t most = options.plan.most_sites();
  if (options.quorum < 2 || options.quorum > most) {
    return absl::InvalidArgumentError(absl::StrCat("the quorum is ", options.quorum,
                                                   "; it takes 2 to the plan's most_sites, ", most,
                                                   ": the sum of one site would be its update"));
  }
  if (options.expected_sites != 0 && options.expected_sites < options.quorum) {
    return absl::InvalidArgumentError(absl::StrCat("fewer sites are expected (", options.expected_sites,
                                                   ") than the quorum takes (", options.quorum, ")"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Open(CoordinatorOptions options) {
  auto layout = ExchangedLayout::Of(options.plan);
  if (!layout.ok()) return layout.status();
  if (auto status = CheckOptions(options); !status.ok()) return status;
  auto lock = StateLock::Take(options.state_folder);
  if (!lock.ok()) return lock.status();
  auto loaded = LoadCoordinatorState(options.state_folder);
  if (!loaded.ok()) return loaded.status();
  KeptState kept;
  if (*loaded) {
    kept = **std::move(loaded);
    options.plan.set_session(kept.state.plan().session());
    google::protobuf::util::MessageDifferencer differencer;
    std::string difference;
    differencer.ReportDifferencesToString(&difference);
    if (!differencer.Compare(kept.state.plan(), options.plan)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the federation in ", options.state_folder.string(), " was started with another plan (",
          difference.substr(0, difference.find('\n')),
          "); start with the same options to go on, or give another --state folder to begin anew"));
    }
    if (kept.model.size() != layout->total()) return absl::DataLossError("the kept model has another size");
    // A crash between the two files.
    if (auto status = AppendReport(options.state_folder, kept.state.last_report());
        kept.state.finished_rounds() > 0 && !status.ok()) {
      return status;
    }
  } else {
    auto session = NewSession();
    if (!session.ok()) return session.status();
    options.plan.set_session(*session);
    *kept.state.mutable_plan() = options.plan;
    kept.model = InitialModel(options.plan, *layout);
    if (auto status = SaveCoordinatorState(options.state_folder, &kept); !status.ok()) return status;
  }
  spdlog::info("federation session={} round={} rounds={} numbers={} resumed={}", options.plan.session(),
               kept.state.finished_rounds() + 1, options.plan.rounds(), layout->total(),
               kept.state.finished_rounds() > 0);
  return std::unique_ptr<Coordinator>(
      new Coordinator(*std::move(lock), std::move(options), *layout, std::move(kept)));
}

Coordinator::Coordinator(StateLock lock, CoordinatorOptions options, ExchangedLayout layout, KeptState kept)
    : lock_(std::move(lock)),
      options_(std::move(options)),
      layout_(std::move(layout)),
      kept_(std::move(kept)),
      model_(std::make_shared<const std::vector<float>>(kept_.model)) {}

absl::StatusOr<federated::JoinResponse> Coordinator::Join(const std::string& site,
                                                          const federated::JoinRequest& request) {
  std::lock_guard lock(mutex_);
  if (request.protocol() != kProtocol) {
    return absl::FailedPreconditionError(
        absl::StrCat("site '", site, "' (version ", request.program_version(), ") speaks protocol ",
                     request.protocol(), " of federations, this coordinator protocol ", kProtocol));
  }
  if (!sites_.contains(site) && sites_.size() >= kMostSitesKnown) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a coordinator knows at most ", kMostSitesKnown, " sites"));
  }
  const bool again = sites_.contains(site);
  sites_[site] = options_.clock->Now();
  // Its keys are gone with its former self.
  if (round_ && round_->Withdraw(site)) spdlog::warn("site_restarted site={}", site);
  spdlog::info("site_joined site={} again={} sites={} during={}", site, again, sites_.size(),
               round_ ? NameOf(round_->stage()) : "gathering");
  federated::JoinResponse response;
  *response.mutable_plan() = options_.plan;
  return response;
}

absl::StatusOr<federated::PollResponse> Coordinator::Poll(const std::string& site,
                                                          const federated::PollRequest& request) {
  std::lock_guard lock(mutex_);
  const auto known = sites_.find(site);
  if (known == sites_.end()) {
    return absl::NotFoundError(
        absl::StrCat("site '", site, "' has not joined this coordinator (since it started)"));
  }
  if (request.session() != options_.plan.session()) {
    return absl::FailedPreconditionError(
        "the federation is another one than the site joined; start the site anew");
  }
  known->second = options_.clock->Now();
  federated::PollResponse response;
  response.set_retry_after_ms(static_cast<int>(absl::ToInt64Milliseconds(options_.poll_interval)));
  response.mutable_key()->set_session(options_.plan.session());
  response.mutable_key()->set_round(kept_.state.finished_rounds() + 1);
  response.mutable_key()->set_attempt(attempt_);
  if (kept_.state.finished_rounds() >= options_.plan.rounds()) {
    response.mutable_finished()->set_rounds(kept_.state.finished_rounds());
    response.mutable_finished()->set_epsilon(EpsilonAfter(kept_.state.finished_rounds()));
  } else if (round_) {
    round_->Next(site, &response);
  } else {
    response.mutable_wait();
  }
  return response;
}

absl::Status Coordinator::CheckKey(const federated::RoundKey& key) const {
  if (key.session() != options_.plan.session()) {
    return absl::FailedPreconditionError(
        "the federation is another one than the site joined; start the site anew");
  }
  const int round = kept_.state.finished_rounds() + 1;
  if (!round_ || key.round() != round || key.attempt() != attempt_) {
    return absl::FailedPreconditionError(absl::StrCat("round ", key.round(), ", attempt ", key.attempt(),
                                                      " is over; the coordinator is at round ", round,
                                                      ", attempt ", attempt_));
  }
  return absl::OkStatus();
}

absl::Status Coordinator::Refused(const std::string& site, absl::Status status) const {
  if (!status.ok()) spdlog::warn("refused site={} reason=\"{}\"", site, std::string(status.message()));
  return status;
}

absl::Status Coordinator::Advertise(const std::string& site, const federated::AdvertiseKeysRequest& request) {
  std::lock_guard lock(mutex_);
  auto status = CheckKey(request.key());
  return Refused(site, status.ok() ? round_->Advertise(site, request.keys()) : status);
}

absl::Status Coordinator::Share(const std::string& site, const federated::ShareKeysRequest& request) {
  std::lock_guard lock(mutex_);
  auto status = CheckKey(request.key());
  return Refused(site, status.ok() ? round_->Share(site, request) : status);
}

absl::StatusOr<std::shared_ptr<const std::vector<float>>> Coordinator::Model(
    const std::string& site, const federated::GetModelRequest& request) {
  std::lock_guard lock(mutex_);
  const int next = kept_.state.finished_rounds() + 1;
  if (!sites_.contains(site)) return absl::NotFoundError(absl::StrCat("site '", site, "' has not joined"));
  if (request.session() != options_.plan.session() || request.round() != next) {
    return absl::FailedPreconditionError(absl::StrCat("the model of round ", request.round(),
                                                      " is not there; the coordinator is at round ", next));
  }
  return model_;
}

absl::Status Coordinator::CheckUpdate(const std::string& site, const federated::RoundKey& key,
                                      int64_t numbers) const {
  std::lock_guard lock(mutex_);
  auto status = CheckKey(key);
  return Refused(site, status.ok() ? round_->CheckSize(site, numbers) : status);
}

absl::Status Coordinator::Submit(const std::string& site, const federated::RoundKey& key,
                                 absl::Span<const uint64_t> masked) {
  std::lock_guard lock(mutex_);
  auto status = CheckKey(key);
  return Refused(site, status.ok() ? round_->Submit(site, masked) : status);
}

absl::Status Coordinator::Reveal(const std::string& site, const federated::RevealSharesRequest& request) {
  std::lock_guard lock(mutex_);
  auto status = CheckKey(request.key());
  return Refused(site, status.ok() ? round_->Reveal(site, request) : status);
}

absl::Status Coordinator::Withdraw(const std::string& site, const federated::WithdrawRequest& request) {
  std::lock_guard lock(mutex_);
  if (auto status = CheckKey(request.key()); !status.ok()) return status;
  if (!round_->Withdraw(site)) return absl::OkStatus();
  spdlog::warn("site_withdrew site={} round={} reason=\"{}\"", site, request.key().round(),
               absl::CEscape(request.reason().substr(0, 500)));
  return absl::OkStatus();
}

std::vector<std::string> Coordinator::Live() const {
  const absl::Time since = options_.clock->Now() - kIntervalsAlive * options_.poll_interval;
  std::vector<std::string> live;
  for (const auto& [name, seen] : sites_) {
    if (seen >= since) live.push_back(name);
  }
  return live;
}

double Coordinator::EpsilonAfter(int rounds) const {
  if (options_.plan.noise() == 0) return 0;
  return SpentPrivacy(options_.plan.noise(), options_.plan.sampling_rate(), rounds, options_.plan.delta(),
                      RdpConversion::kImproved)
      .epsilon;
}

size_t Coordinator::update_words() const { return UpdateWords(layout_.total()); }

bool Coordinator::Finished() const {
  std::lock_guard lock(mutex_);
  return kept_.state.finished_rounds() >= options_.plan.rounds();
}

size_t Coordinator::live_sites() const {
  std::lock_guard lock(mutex_);
  return Live().size();
}

int Coordinator::finished_rounds() const {
  std::lock_guard lock(mutex_);
  return kept_.state.finished_rounds();
}

double Coordinator::epsilon() const {
  std::lock_guard lock(mutex_);
  return EpsilonAfter(kept_.state.finished_rounds());
}

absl::StatusOr<ModelPackage> Coordinator::WritePackage(const std::filesystem::path& folder,
                                                       const std::string& version,
                                                       const std::vector<std::string>& ids) const {
  std::lock_guard lock(mutex_);
  FederatedPackage about;
  about.version = version;
  about.clock = options_.clock;
  about.metrics["rounds"] = kept_.state.finished_rounds();
  if (options_.plan.noise() > 0) {
    about.metrics["epsilon"] = EpsilonAfter(kept_.state.finished_rounds());
    about.metrics["delta"] = options_.plan.delta();
  }
  return WriteFederatedPackage(folder, options_.plan, layout_, kept_.model, ids, about);
}

}  // namespace waymark
