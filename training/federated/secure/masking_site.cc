#include "training/federated/secure/masking_site.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "training/federated/secure/mask_stream.h"
#include "training/federated/secure/sealed_message.h"
#include "training/federated/secure/secure_random.h"

namespace waymark {

size_t ShareThreshold(size_t participants) { return 2 * participants / 3 + 1; }

std::string MaskPurpose(const std::string& label, uint8_t one, uint8_t other) {
  return absl::StrCat(label, " mask ", int{std::min(one, other)}, "-", int{std::max(one, other)});
}

absl::StatusOr<MaskingSite> MaskingSite::Make(const std::string& label) {
  MaskingSite site;
  site.label_ = label;
  for (KeyPair* pair : {&site.sealing_, &site.masking_}) {
    auto made = MakeKeyPair();
    if (!made.ok()) return made.status();
    *pair = *made;
  }
  if (auto status = FillRandom(absl::MakeSpan(site.own_mask_)); !status.ok()) return status;
  return site;
}

std::string MaskingSite::ContextOf(uint8_t from, uint8_t to) const {
  return absl::StrCat(label_, " shares ", int{from}, ">", int{to});
}

absl::StatusOr<std::map<uint8_t, std::string>> MaskingSite::Share(
    std::vector<MaskingParticipant> participants, uint8_t place) {
  for (MaskingParticipant& p : participants) {
    const uint8_t own = p.place;
    if (own == 0 || own > participants.size() || !participants_.emplace(own, std::move(p)).second) {
      return absl::InvalidArgumentError(absl::StrCat("the coordinator's list of ", participants.size(),
                                                     " participants has the place ", int{own},
                                                     " twice or out of order"));
    }
  }
  const auto me = participants_.find(place);
  if (me == participants_.end() || me->second.sealing != sealing_.open ||
      me->second.masking != masking_.open) {
    return absl::InvalidArgumentError("the coordinator's list of participants has not this site's keys");
  }
  place_ = place;
  const size_t threshold = ShareThreshold(participants_.size());
  auto of_mask = SplitSecret(own_mask_, threshold, participants_.size());
  if (!of_mask.ok()) return of_mask.status();
  auto of_key = SplitSecret(masking_.secret, threshold, participants_.size());
  if (!of_key.ok()) return of_key.status();
  of_own_ = {(*of_mask)[place - 1], (*of_key)[place - 1]};
  std::map<uint8_t, std::string> sealed;
  for (const auto& [to, participant] : participants_) {
    if (to == place) continue;
    const std::string context = ContextOf(place, to);
    auto key = AgreeOnKey(sealing_.secret, participant.sealing, context);
    if (!key.ok()) return key.status();
    std::string message;
    for (const SecretShare& share : {(*of_mask)[to - 1], (*of_key)[to - 1]}) {
      message.append(share.bytes.begin(), share.bytes.end());
    }
    auto box = SealMessage(*key, context, message);
    if (!box.ok()) return box.status();
    sealed[to] = *std::move(box);
  }
  return sealed;
}

absl::StatusOr<MaskingSite::Shares> MaskingSite::Unseal(const MaskingParticipant& from,
                                                        const std::string& sealed) const {
  const std::string context = ContextOf(from.place, place_);
  auto key = AgreeOnKey(sealing_.secret, from.sealing, context);
  if (!key.ok()) return key.status();
  auto message = OpenMessage(*key, context, sealed);
  if (!message.ok() || message->size() != 2 * sizeof(Key)) {
    return absl::DataLossError(
        absl::StrCat("the shares that site '", from.name, "' sent to this one were changed on their way"));
  }
  const auto middle = message->begin() + sizeof(Key);
  return Shares{{place_, {message->begin(), middle}}, {place_, {middle, message->end()}}};
}

absl::Status MaskingSite::Mask(const std::map<uint8_t, std::string>& sealed, absl::Span<uint64_t> values) {
  if (place_ == 0 || masked_) return absl::FailedPreconditionError("masks are added once, after the shares");
  held_[place_] = of_own_;
  for (const auto& [from, box] : sealed) {
    const auto found = participants_.find(from);
    if (found == participants_.end() || from == place_) {
      return absl::InvalidArgumentError(
          absl::StrCat("shares came of place ", int{from}, ", which is nobody's"));
    }
    auto shares = Unseal(found->second, box);
    if (!shares.ok()) return shares.status();
    held_[from] = *std::move(shares);
  }
  const size_t threshold = ShareThreshold(participants_.size());
  if (held_.size() < threshold) {
    return absl::FailedPreconditionError(absl::StrCat("only ", held_.size(), " of ", participants_.size(),
                                                      " sites sent their shares; it takes ", threshold));
  }
  masked_ = true;
  if (auto status = AddMask(own_mask_, MaskSign::kPlus, values); !status.ok()) return status;
  for (const auto& [other, shares] : held_) {
    if (other == place_) continue;
    auto seed =
        AgreeOnKey(masking_.secret, participants_.at(other).masking, MaskPurpose(label_, place_, other));
    if (!seed.ok()) return seed.status();
    auto status = AddMask(*seed, place_ < other ? MaskSign::kPlus : MaskSign::kMinus, values);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RevealedShare>> MaskingSite::Reveal(absl::Span<const uint8_t> survivors) {
  if (!masked_ || revealed_) {
    return absl::FailedPreconditionError("shares are revealed once a round, after the masked update");
  }
  std::map<uint8_t, bool> alive;
  for (uint8_t place : survivors) alive[place] = held_.contains(place);
  const bool known = std::all_of(alive.begin(), alive.end(), [](const auto& entry) { return entry.second; });
  const size_t threshold = ShareThreshold(participants_.size());
  if (!known || !alive.contains(place_) || alive.size() < threshold) {
    return absl::FailedPreconditionError(absl::StrCat("the coordinator names ", alive.size(),
                                                      " survivors of ", participants_.size(),
                                                      " participants; shares are revealed for at least ",
                                                      threshold, " that took part, this site among them"));
  }
  revealed_ = true;
  std::vector<RevealedShare> out;
  for (const auto& [owner, shares] : held_) {
    const bool survived = alive.contains(owner);
    out.push_back({owner, survived, survived ? shares.own_mask : shares.masking_key});
  }
  return out;
}

}  // namespace waymark
