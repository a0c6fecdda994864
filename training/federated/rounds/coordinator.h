// The coordinator of a federation: who is there, when rounds begin and end, what becomes of their sums.
// Without a network (rpc/coordinator_server.h has it) and without a thread: Tick() moves on what is due.
//
//   auto coordinator = Coordinator::Open(options);     // starts, or goes on with what the folder holds
//   (*coordinator)->Join("north", request);  (*coordinator)->Poll("north", request);  ...
//   (*coordinator)->Tick();
//
// A round begins when `quorum` sites are there and have been waited for, and each is drawn by the plan's
// sampling rate. An attempt that loses too many sites is given up and the round is tried again with the same
// model. The state lies on disk before sites see the next round. What happens is logged by spdlog, «name
// key=value».
//
// Thread-safe.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "store/clock.h"
#include "training/federated/model/exchanged_model.h"
#include "training/federated/rounds/aggregation_round.h"
#include "training/federated/rounds/coordinator_state.h"
#include "training/federated/rounds/state_lock.h"

namespace waymark {

struct CoordinatorOptions {
  federated::Plan plan;  // its session is made when the federation starts
  std::filesystem::path state_folder;
  size_t quorum = 3;          // sites that a round takes at least, at its beginning and in its sum
  size_t expected_sites = 0;  // a round begins at once when so many are there; 0: not known
  // Waited for more sites after the quorum is there; of the stages of keys and shares; of training.
  absl::Duration gather = absl::Seconds(5), stage_deadline = absl::Seconds(30),
                 training_deadline = absl::Minutes(10);
  absl::Duration poll_interval = absl::Milliseconds(500);
  const Clock* clock = Clock::Real();
};

class Coordinator {
 public:
  // INVALID_ARGUMENT: options; FAILED_PRECONDITION: another coordinator runs on the folder, or it holds a
  // federation with another plan, with the first difference; DATA_LOSS: it is damaged.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Open(CoordinatorOptions options);

  // What sites call; `site` is the name that their certificate proves. Errors as of AggregationRound.
  absl::StatusOr<federated::JoinResponse> Join(const std::string& site,
                                               const federated::JoinRequest& request);
  absl::StatusOr<federated::PollResponse> Poll(const std::string& site,
                                               const federated::PollRequest& request);
  absl::Status Advertise(const std::string& site, const federated::AdvertiseKeysRequest& request);
  absl::Status Share(const std::string& site, const federated::ShareKeysRequest& request);
  absl::StatusOr<std::shared_ptr<const std::vector<float>>> Model(const std::string& site,
                                                                  const federated::GetModelRequest& request);
  // Before an update is read: whether one of so many numbers would be taken.
  absl::Status CheckUpdate(const std::string& site, const federated::RoundKey& key, int64_t numbers) const;
  absl::Status Submit(const std::string& site, const federated::RoundKey& key,
                      absl::Span<const uint64_t> masked);
  absl::Status Reveal(const std::string& site, const federated::RevealSharesRequest& request);
  absl::Status Withdraw(const std::string& site, const federated::WithdrawRequest& request);

  // Ends stages that are complete or past their deadline, begins rounds. An error is one of the disk: the
  // coordinator cannot go on.
  absl::Status Tick();

  size_t update_words() const;  // that a site has to send
  bool Finished() const;
  size_t live_sites() const;
  int finished_rounds() const;
  double epsilon() const;
  const federated::Plan& plan() const { return options_.plan; }
  // The finished rounds' model as a package.
  absl::StatusOr<ModelPackage> WritePackage(const std::filesystem::path& folder, const std::string& version,
                                            const std::vector<std::string>& ids) const;

 private:
  Coordinator(StateLock lock, CoordinatorOptions options, ExchangedLayout layout, KeptState kept);
  absl::Status CheckKey(const federated::RoundKey& key) const;
  absl::Status Refused(const std::string& site, absl::Status status) const;
  std::vector<std::string> Live() const;  // needs the lock
  absl::Status BeginWhenGathered();
  absl::Status Begin(const std::vector<std::string>& live);
  absl::Status EndStage();
  absl::Status Apply(federated::RoundReport* report);
  absl::Status Keep(federated::RoundReport report);
  absl::Duration DeadlineOfStage() const;
  double EpsilonAfter(int rounds) const;

  const StateLock lock_;
  CoordinatorOptions options_;
  const ExchangedLayout layout_;
  mutable std::mutex mutex_;
  KeptState kept_;
  std::shared_ptr<const std::vector<float>> model_;  // what kept_ holds, for those that read it
  std::map<std::string, absl::Time> sites_;          // joined, with their last sign of life
  int attempt_ = 1;
  std::optional<AggregationRound> round_;
  size_t live_when_drawn_ = 0;
  absl::Time deadline_, began_, quorum_since_ = absl::InfiniteFuture();
};

}  // namespace waymark
