#include "training/federated/secure/shamir_sharing.h"

#include "absl/strings/str_cat.h"
#include "training/federated/secure/secure_random.h"

namespace waymark {

uint8_t MultiplyGf256(uint8_t a, uint8_t b) {
  unsigned product = 0, shifted = a;
  for (int bit = 0; bit < 8; ++bit) {
    product ^= shifted & (0u - ((b >> bit) & 1u));
    shifted = (shifted << 1) ^ (0x11bu & (0u - ((shifted >> 7) & 1u)));
  }
  return static_cast<uint8_t>(product);
}

uint8_t InvertGf256(uint8_t a) {
  // a^254, since a^255 = 1.
  uint8_t power = a, result = 1;
  for (int bit = 1; bit < 8; ++bit) {
    power = MultiplyGf256(power, power);
    result = MultiplyGf256(result, power);
  }
  return result;
}

absl::StatusOr<std::vector<SecretShare>> SplitSecret(absl::Span<const uint8_t> secret, size_t threshold,
                                                     size_t shares) {
  if (threshold == 0 || threshold > shares || shares > kMostShares) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a secret cannot be split into ", shares, " shares of which ", threshold,
        " are needed; it takes 1 to ", kMostShares, " shares and no more needed than there are"));
  }
  // Coefficients of the powers 1 .. threshold - 1, for each byte.
  std::vector<uint8_t> coefficients((threshold - 1) * secret.size());
  if (auto status = FillRandom(absl::MakeSpan(coefficients)); !status.ok()) return status;
  std::vector<SecretShare> result(shares);
  for (size_t s = 0; s < shares; ++s) {
    result[s].place = static_cast<uint8_t>(s + 1);
    result[s].bytes.resize(secret.size());
    for (size_t i = 0; i < secret.size(); ++i) {
      uint8_t value = 0;
      for (size_t power = threshold - 1; power > 0; --power) {
        value = MultiplyGf256(value ^ coefficients[(power - 1) * secret.size() + i], result[s].place);
      }
      result[s].bytes[i] = value ^ secret[i];
    }
  }
  return result;
}

absl::StatusOr<std::vector<uint8_t>> JoinSecret(absl::Span<const SecretShare> shares, size_t threshold) {
  if (threshold == 0 || shares.size() < threshold) {
    return absl::FailedPreconditionError(
        absl::StrCat("a secret needs ", threshold, " shares, and there are ", shares.size()));
  }
  shares = shares.first(threshold);
  for (size_t s = 0; s < threshold; ++s) {
    bool bad = shares[s].place == 0 || shares[s].bytes.size() != shares[0].bytes.size();
    for (size_t other = 0; other < s; ++other) bad |= shares[other].place == shares[s].place;
    if (bad) {
      return absl::InvalidArgumentError(absl::StrCat("the share of place ", int{shares[s].place}, " has ",
                                                     shares[s].bytes.size(),
                                                     " bytes or a place that is taken"));
    }
  }
  std::vector<uint8_t> secret(shares[0].bytes.size(), 0);
  for (size_t s = 0; s < threshold; ++s) {
    // Lagrange's basis at 0; minus is plus here.
    uint8_t basis = 1;
    for (size_t other = 0; other < threshold; ++other) {
      if (other == s) continue;
      basis = MultiplyGf256(
          basis, MultiplyGf256(shares[other].place, InvertGf256(shares[other].place ^ shares[s].place)));
    }
    for (size_t i = 0; i < secret.size(); ++i) secret[i] ^= MultiplyGf256(basis, shares[s].bytes[i]);
  }
  return secret;
}

}  // namespace waymark
