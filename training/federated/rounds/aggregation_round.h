// The coordinator's side of one attempt at a round, as a state machine without clock, network or disk: what
// sites have sent, what each is to do next, and the sum in the end.
//
//   AggregationRound round(label, drawn, quorum, words);
//   round.Advertise("north", keys);  ...  if (round.Complete()) round.Close();
//   round.Submit("north", masked);   ...  auto sum = round.Sum();
//
// A masked update is added to one running sum as it comes and is not kept. One thread at a time.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/federated/secure/mask_removal.h"
#include "waymark/federated/federation.pb.h"

namespace waymark {

enum class RoundStage { kKeys, kShares, kUpdates, kReveal, kDone };
const char* NameOf(RoundStage stage);

class AggregationRound {
 public:
  // `drawn`: names of sites, at most 255; `words`: of an update.
  AggregationRound(std::string label, const std::vector<std::string>& drawn, size_t quorum, size_t words);

  RoundStage stage() const { return stage_; }
  // What sites send. FAILED_PRECONDITION: not this stage, or not of this round (any more); INVALID_ARGUMENT:
  // what is wrong with it; ALREADY_EXISTS: it was sent before.
  absl::Status Advertise(const std::string& site, const federated::KeyAdvertisement& keys);
  absl::Status Share(const std::string& site, const federated::ShareKeysRequest& request);
  absl::Status CheckSize(const std::string& site, int64_t words) const;  // of an update
  absl::Status Submit(const std::string& site, absl::Span<const uint64_t> masked);
  absl::Status Reveal(const std::string& site, const federated::RevealSharesRequest& request);
  // false: it takes no part.
  bool Withdraw(const std::string& site);

  // Fills the step of `site`: what it still owes this stage, else waiting.
  void Next(const std::string& site, federated::PollResponse* response) const;
  // Whether nobody that is still in owes anything.
  bool Complete() const;
  // Goes on with those that have answered. FAILED_PRECONDITION: too few, with the numbers.
  absl::Status Close();

  // Of the survivors' updates; when the stage is kDone, once.
  absl::StatusOr<std::vector<uint64_t>> Sum();
  size_t survivors() const { return survivors_.size(); }
  size_t participants() const { return participants_.size(); }
  std::vector<std::string> Dropped() const;  // drawn, and not among the survivors

 private:
  struct Member {
    bool in = true, answered = false;  // of this stage
    uint8_t place = 0;
    federated::KeyAdvertisement keys;
    std::map<uint8_t, std::string> sealed;  // for this member, by sender
  };
  absl::StatusOr<Member*> Expect(const std::string& site, RoundStage stage);
  size_t Needed() const;

  std::string label_;
  size_t quorum_, words_;
  RoundStage stage_ = RoundStage::kKeys;
  std::map<std::string, Member> members_;
  std::vector<MaskingParticipant> participants_;
  std::vector<uint8_t> masked_, survivors_;
  std::map<uint8_t, std::vector<RevealedShare>> revealed_;
  std::vector<uint64_t> sum_;
};

}  // namespace waymark
