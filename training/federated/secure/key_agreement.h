// Two sites find a key that only they know: X25519 (RFC 7748), then HKDF-SHA256 (RFC 5869) with the purpose
// as `info`, so that keys for other purposes, rounds or directions are others.
//
//   auto mine = MakeKeyPair();
//   auto key = AgreeOnKey(mine->secret, theirs, "round 7, masks, 1-3");
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace waymark {

using Key = std::array<uint8_t, 32>;

struct KeyPair {
  Key secret{}, open{};
};

absl::StatusOr<KeyPair> MakeKeyPair();
absl::StatusOr<Key> OpenKeyOf(const Key& secret);

// The same on both sides. INVALID_ARGUMENT: the peer's key is none (a point of small order).
absl::StatusOr<Key> AgreeOnKey(const Key& secret, const Key& peer, std::string_view purpose);

// The parts, each with its RFC's test vectors.
absl::StatusOr<Key> X25519(const Key& secret, const Key& peer);
absl::StatusOr<std::vector<uint8_t>> HkdfSha256(std::string_view secret, std::string_view salt,
                                                std::string_view info, size_t length);

// From bytes that came over the wire. INVALID_ARGUMENT: not 32 of them.
absl::StatusOr<Key> KeyFromBytes(std::string_view bytes);
inline std::string_view BytesOf(const Key& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace waymark
