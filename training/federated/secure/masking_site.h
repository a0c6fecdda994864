// A site's part in one round of secure aggregation (Bonawitz et al., CCS 2017): the coordinator learns the
// sum of the sites' vectors and no single one of them, also when some sites drop out.
//
//   masked_u = x_u + PRG(b_u) + sum over v > u of PRG(s_uv) - sum over v < u of PRG(s_uv)   modulo 2^64
//
// s_uv is agreed by X25519; b_u is the site's own («double masking»: an update that comes after its masks
// were revealed still says nothing). b_u and the secret of the s_uv are shared by Shamir; of each site only
// one of the two is ever revealed, which the site itself sees to.
//
//   auto site = MaskingSite::Make(label);             // 1: its open keys go to everybody
//   auto sealed = site->Share(participants, place);   // 2: shares for the others, sealed
//   site->Mask(sealed_for_me, absl::MakeSpan(values));  // 3
//   auto revealed = site->Reveal(survivors);          // 4: the coordinator can take the masks off the sum
//
// For one round and one attempt; one thread.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "training/federated/secure/key_agreement.h"
#include "training/federated/secure/shamir_sharing.h"

namespace waymark {

struct MaskingParticipant {
  uint8_t place = 0;  // 1 .. n, all distinct
  std::string name;
  Key sealing{}, masking{};  // open keys
};

// Shares that are needed of n participants: floor(2n / 3) + 1. More than half, so that the coordinator cannot
// get both secrets of a site by telling different sites different survivors.
size_t ShareThreshold(size_t participants);

// What HKDF makes the seed of a pair's mask from; the same for both.
std::string MaskPurpose(const std::string& label, uint8_t one, uint8_t other);

struct RevealedShare {
  uint8_t owner = 0;
  bool survived = false;  // then a share of b_owner, else of the secret masking key
  SecretShare share;
};

class MaskingSite {
 public:
  // `label`: session, round and attempt; keys of another label are others.
  static absl::StatusOr<MaskingSite> Make(const std::string& label);
  const Key& sealing_key() const { return sealing_.open; }
  const Key& masking_key() const { return masking_.open; }

  // By place of the receiver. INVALID_ARGUMENT: places that stand twice, keys that are not those of this
  // site.
  absl::StatusOr<std::map<uint8_t, std::string>> Share(std::vector<MaskingParticipant> participants,
                                                       uint8_t place);
  // `sealed`: by place of the sender; who sent none has dropped out. FAILED_PRECONDITION: fewer are left,
  // this site included, than the threshold.
  absl::Status Mask(const std::map<uint8_t, std::string>& sealed, absl::Span<uint64_t> values);
  // Of each site that was in Mask: a share of b when it is among `survivors`, else of its masking key.
  // Answers once; FAILED_PRECONDITION: asked again, fewer survivors than the threshold, or this site is not
  // among them.
  absl::StatusOr<std::vector<RevealedShare>> Reveal(absl::Span<const uint8_t> survivors);

 private:
  struct Shares {
    SecretShare own_mask, masking_key;  // of another site's b and secret masking key
  };
  MaskingSite() = default;
  std::string ContextOf(uint8_t from, uint8_t to) const;
  absl::StatusOr<Shares> Unseal(const MaskingParticipant& from, const std::string& sealed) const;

  std::string label_;
  KeyPair sealing_, masking_;
  Key own_mask_{};
  uint8_t place_ = 0;
  std::map<uint8_t, MaskingParticipant> participants_;
  std::map<uint8_t, Shares> held_;  // of those that are in Mask, this site included
  Shares of_own_;
  bool masked_ = false, revealed_ = false;
};

}  // namespace waymark
