// Shamir's secret sharing (1979), byte by byte over GF(256) with the polynomial of AES (x^8 + x^4 + x^3 + x +
// 1): any `threshold` shares give the secret, fewer say nothing about it.
//
//   auto shares = SplitSecret(secret, 3, 4);
//   auto again = JoinSecret({shares[0], shares[1], shares[3]}, 3);
//
// Multiplication takes no branch and no table by a secret value. Thread-safe (no state).
#pragma once
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

inline constexpr size_t kMostShares = 255;

struct SecretShare {
  uint8_t place = 0;  // 1 to 255: where the polynomials were taken
  std::vector<uint8_t> bytes;
};

// The shares of the places 1 .. `shares`. INVALID_ARGUMENT: threshold 0, more than the shares, or too many
// shares.
absl::StatusOr<std::vector<SecretShare>> SplitSecret(absl::Span<const uint8_t> secret, size_t threshold,
                                                     size_t shares);

// From the first `threshold` shares. FAILED_PRECONDITION: too few; INVALID_ARGUMENT: places that stand twice,
// lengths that differ. Shares that were changed give another secret: the caller checks it.
absl::StatusOr<std::vector<uint8_t>> JoinSecret(absl::Span<const SecretShare> shares, size_t threshold);

uint8_t MultiplyGf256(uint8_t a, uint8_t b);
uint8_t InvertGf256(uint8_t a);  // of 0: 0

}  // namespace waymark
