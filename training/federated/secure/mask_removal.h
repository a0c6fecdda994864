// The coordinator's part of secure aggregation: takes the masks off a sum of masked vectors, by the shares
// that the survivors revealed (masking_site.h).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "training/federated/secure/masking_site.h"

namespace waymark {

struct MaskedRound {
  std::string label;
  std::vector<MaskingParticipant> participants;  // who advertised keys: their number gives the threshold
  std::vector<uint8_t> masked;     // places whose shares went round: all masks are between these
  std::vector<uint8_t> survivors;  // of those: whose vectors are in the sum
  // By the survivor that revealed them.
  std::map<uint8_t, std::vector<RevealedShare>> revealed;
};

// FAILED_PRECONDITION: too few shares; INVALID_ARGUMENT: shares that give no key, with the owner's name. The
// sum is then as good as lost. Thread-safe.
absl::Status RemoveMasks(const MaskedRound& round, absl::Span<uint64_t> sum);

}  // namespace waymark
