#include "training/federated/secure/mask_removal.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "training/federated/secure/mask_stream.h"

namespace waymark {
namespace {

absl::StatusOr<Key> JoinKey(const MaskedRound& round, const MaskingParticipant& owner, bool survived) {
  std::vector<SecretShare> shares;
  for (const auto& [by, revealed] : round.revealed) {
    for (const RevealedShare& r : revealed) {
      // Whoever reveals a share has the place at which it was taken, whatever it says.
      if (r.owner == owner.place && r.survived == survived) shares.push_back({by, r.share.bytes});
    }
  }
  auto secret = JoinSecret(shares, ShareThreshold(round.participants.size()));
  if (!secret.ok()) {
    return absl::Status(secret.status().code(),
                        absl::StrCat("the masks of site '", owner.name,
                                     "' cannot be taken off: ", std::string(secret.status().message())));
  }
  return KeyFromBytes({reinterpret_cast<const char*>(secret->data()), secret->size()});
}

}  // namespace

absl::Status RemoveMasks(const MaskedRound& round, absl::Span<uint64_t> sum) {
  std::map<uint8_t, const MaskingParticipant*> by_place;
  for (const MaskingParticipant& p : round.participants) by_place[p.place] = &p;
  const auto survived = [&round](uint8_t place) {
    return std::find(round.survivors.begin(), round.survivors.end(), place) != round.survivors.end();
  };
  for (uint8_t place : round.masked) {
    const MaskingParticipant& owner = *by_place.at(place);
    auto secret = JoinKey(round, owner, survived(place));
    if (!secret.ok()) return secret.status();
    if (survived(place)) {
      if (auto status = AddMask(*secret, MaskSign::kMinus, sum); !status.ok()) return status;
      continue;
    }
    auto open = OpenKeyOf(*secret);
    if (!open.ok()) return open.status();
    if (*open != owner.masking) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shares of site '", owner.name, "' do not give the key that it advertised"));
    }
    for (uint8_t other : round.survivors) {
      auto seed = AgreeOnKey(*secret, by_place.at(other)->masking, MaskPurpose(round.label, place, other));
      if (!seed.ok()) return seed.status();
      // The survivor added it with the sign of its own place.
      auto status = AddMask(*seed, other < place ? MaskSign::kMinus : MaskSign::kPlus, sum);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
