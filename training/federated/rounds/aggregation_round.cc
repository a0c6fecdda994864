#include "training/federated/rounds/aggregation_round.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr size_t kLongestBox = 1024, kLongestCertificate = 64 << 10;

}  // namespace

const char* NameOf(RoundStage stage) {
  switch (stage) {
    case RoundStage::kKeys:
      return "keys";
    case RoundStage::kShares:
      return "shares";
    case RoundStage::kUpdates:
      return "updates";
    case RoundStage::kReveal:
      return "reveal";
    case RoundStage::kDone:
      return "done";
  }
  return "done";
}

AggregationRound::AggregationRound(std::string label, const std::vector<std::string>& drawn, size_t quorum,
                                   size_t words)
    : label_(std::move(label)), quorum_(quorum), words_(words) {
  for (const std::string& name : drawn) members_[name];
}

absl::StatusOr<AggregationRound::Member*> AggregationRound::Expect(const std::string& site,
                                                                   RoundStage stage) {
  const auto found = members_.find(site);
  if (found == members_.end() || !found->second.in) {
    return absl::FailedPreconditionError(
        absl::StrCat("site '", site, "' takes no part in this round (any more); it may in the next one"));
  }
  if (stage != stage_) {
    return absl::FailedPreconditionError(absl::StrCat("the ", NameOf(stage), " of site '", site,
                                                      "' came while the round was at its ", NameOf(stage_)));
  }
  if (found->second.answered) {
    return absl::AlreadyExistsError(
        absl::StrCat("site '", site, "' has sent its ", NameOf(stage), " already"));
  }
  return &found->second;
}

absl::Status AggregationRound::Advertise(const std::string& site, const federated::KeyAdvertisement& keys) {
  auto member = Expect(site, RoundStage::kKeys);
  if (!member.ok()) return member.status();
  for (const std::string* key : {&keys.sealing_key(), &keys.masking_key()}) {
    if (auto checked = KeyFromBytes(*key); !checked.ok()) return checked.status();
  }
  if (keys.certificate().size() > kLongestCertificate || keys.signature().size() > kLongestBox) {
    return absl::InvalidArgumentError("a certificate or signature is longer than any should be");
  }
  (*member)->keys = keys;
  (*member)->answered = true;
  return absl::OkStatus();
}

absl::Status AggregationRound::Share(const std::string& site, const federated::ShareKeysRequest& request) {
  auto member = Expect(site, RoundStage::kShares);
  if (!member.ok()) return member.status();
  if (static_cast<size_t>(request.sealed_shares_size()) + 1 != participants_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("site '", site, "' sent ", request.sealed_shares_size(),
                                                   " shares for ", participants_.size() - 1, " others"));
  }
  const uint8_t from = (*member)->place;
  for (const auto& [to, box] : request.sealed_shares()) {
    if (to < 1 || to > static_cast<int>(participants_.size()) || to == from || box.size() > kLongestBox) {
      return absl::InvalidArgumentError(
          absl::StrCat("site '", site, "' sent a share of ", box.size(), " bytes for place ", to));
    }
  }
  for (auto& [name, other] : members_) {
    const auto box = request.sealed_shares().find(other.place);
    if (other.place != 0 && box != request.sealed_shares().end()) other.sealed[from] = box->second;
  }
  (*member)->answered = true;
  return absl::OkStatus();
}

absl::Status AggregationRound::CheckSize(const std::string& site, int64_t words) const {
  if (words == static_cast<int64_t>(words_)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the update of site '", site, "' has ", words,
                                                 " numbers; the plan's model takes ", words_));
}

absl::Status AggregationRound::Submit(const std::string& site, absl::Span<const uint64_t> masked) {
  auto member = Expect(site, RoundStage::kUpdates);
  if (!member.ok()) return member.status();
  auto status = CheckSize(site, static_cast<int64_t>(masked.size()));
  if (!status.ok()) return status;
  sum_.resize(words_, 0);
  for (size_t i = 0; i < words_; ++i) sum_[i] += masked[i];
  (*member)->answered = true;
  return absl::OkStatus();
}

absl::Status AggregationRound::Reveal(const std::string& site,
                                      const federated::RevealSharesRequest& request) {
  auto member = Expect(site, RoundStage::kReveal);
  if (!member.ok()) return member.status();
  if (static_cast<size_t>(request.shares_size()) != masked_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("site '", site, "' revealed ", request.shares_size(),
                                                   " shares of ", masked_.size(), " sites"));
  }
  std::vector<RevealedShare> shares;
  for (const federated::RevealedShare& share : request.shares()) {
    if (share.owner() < 1 || share.owner() > 255 || share.share().size() != sizeof(Key)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "site '", site, "' revealed a share of ", share.share().size(), " bytes of place ", share.owner()));
    }
    shares.push_back({static_cast<uint8_t>(share.owner()),
                      share.survived(),
                      {(*member)->place, {share.share().begin(), share.share().end()}}});
  }
  revealed_[(*member)->place] = std::move(shares);
  (*member)->answered = true;
  return absl::OkStatus();
}

bool AggregationRound::Withdraw(const std::string& site) {
  const auto found = members_.find(site);
  // Whose update is in the sum stays among the survivors: its masks must be taken off.
  if (found == members_.end() || !found->second.in) return false;
  found->second.in = false;
  return true;
}

void AggregationRound::Next(const std::string& site, federated::PollResponse* response) const {
  const auto found = members_.find(site);
  if (found == members_.end() || !found->second.in || found->second.answered || stage_ == RoundStage::kDone) {
    response->mutable_wait();
    return;
  }
  const Member& member = found->second;
  switch (stage_) {
    case RoundStage::kKeys:
      response->mutable_advertise();
      break;
    case RoundStage::kShares: {
      federated::PollResponse::Share* share = response->mutable_share();
      share->set_place(member.place);
      for (const auto& [name, other] : members_) {
        if (other.place == 0) continue;
        federated::Participant* participant = share->add_participants();
        participant->set_place(other.place);
        participant->set_name(name);
        *participant->mutable_keys() = other.keys;
      }
      break;
    }
    case RoundStage::kUpdates: {
      auto& sealed = *response->mutable_update()->mutable_sealed_shares();
      for (const auto& [from, box] : member.sealed) sealed[from] = box;
      break;
    }
    case RoundStage::kReveal:
      response->mutable_reveal();
      for (uint8_t place : survivors_) response->mutable_reveal()->add_survivors(place);
      break;
    case RoundStage::kDone:
      break;
  }
}

bool AggregationRound::Complete() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& entry) { return !entry.second.in || entry.second.answered; });
}

size_t AggregationRound::Needed() const {
  if (stage_ == RoundStage::kKeys) return quorum_;
  const size_t threshold = ShareThreshold(participants_.size());
  return stage_ == RoundStage::kReveal ? threshold : std::max(threshold, quorum_);
}

absl::Status AggregationRound::Close() {
  size_t answered = 0;
  for (const auto& [name, member] : members_) answered += member.answered;
  if (answered < Needed()) {
    return absl::FailedPreconditionError(absl::StrCat(answered, " of ", members_.size(), " sites sent their ",
                                                      NameOf(stage_), ", and it takes ", Needed()));
  }
  for (auto& [name, member] : members_) {
    const bool stays = member.answered;
    if (stays && stage_ == RoundStage::kKeys) {
      member.place = static_cast<uint8_t>(participants_.size() + 1);
      participants_.push_back({member.place, name, *KeyFromBytes(member.keys.sealing_key()),
                               *KeyFromBytes(member.keys.masking_key())});
    }
    if (stays && stage_ == RoundStage::kShares) masked_.push_back(member.place);
    if (stays && stage_ == RoundStage::kUpdates) survivors_.push_back(member.place);
    member.in = member.in && stays;
    member.answered = false;
  }
  stage_ = static_cast<RoundStage>(static_cast<int>(stage_) + 1);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> AggregationRound::Sum() {
  if (stage_ != RoundStage::kDone || sum_.empty()) {
    return absl::FailedPreconditionError("a round has its sum once, after its last stage");
  }
  const MaskedRound round{label_, participants_, masked_, survivors_, revealed_};
  std::vector<uint64_t> sum = std::move(sum_);
  sum_.clear();
  if (auto status = RemoveMasks(round, absl::MakeSpan(sum)); !status.ok()) return status;
  return sum;
}

std::vector<std::string> AggregationRound::Dropped() const {
  std::vector<std::string> dropped;
  for (const auto& [name, member] : members_) {
    if (std::find(survivors_.begin(), survivors_.end(), member.place) == survivors_.end())
      dropped.push_back(name);
  }
  return dropped;
}

}  // namespace waymark
