#include "experiment/assignment/unit_hash.h"

#include <openssl/evp.h>

#include <array>
#include <charconv>
#include <string>

namespace waymark {
namespace {

constexpr uint32_t kFnvOffset = 0x811c9dc5u, kFnvPrime = 0x01000193u;
constexpr double kLongScale = static_cast<double>(0xFFFFFFFFFFFFFFFull);

uint32_t Fold(uint32_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * kFnvPrime;
  return hash;
}

uint32_t HashOfHash(std::string_view seed, std::string_view unit) {
  std::array<char, 12> digits;
  const uint32_t first = Fold(Fold(kFnvOffset, seed), unit);
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), first).ptr;
  return Fnv1a32({digits.data(), static_cast<size_t>(end - digits.data())});
}

}  // namespace

uint32_t Fnv1a32(std::string_view text) { return Fold(kFnvOffset, text); }

double HashUnit(HashVersion version, std::string_view seed, std::string_view unit) {
  switch (version) {
    case HashVersion::kGrowthBookV2:
      return HashOfHash(seed, unit) % 10000 / 10000.0;
    case HashVersion::kGrowthBookV1:
      return Fold(Fold(kFnvOffset, unit), seed) % 1000 / 1000.0;
    case HashVersion::kPlanOut:
      break;
  }
  return static_cast<double>(PlanOutHash(seed, unit)) / kLongScale;
}

uint64_t PlanOutHash(std::string_view salt, std::string_view unit) {
  std::string text;
  text.reserve(salt.size() + 1 + unit.size());
  text.append(salt).append(".").append(unit);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  // Looked up by name at each call it would cost more than the hash.
  static const EVP_MD* const sha1 = EVP_sha1();
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, sha1, nullptr);
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) number = number << 8 | digest[i];
  return number >> 4;
}

size_t PlanOutChoice(std::string_view salt, std::string_view unit, size_t choices) {
  return PlanOutHash(salt, unit) % choices;
}

}  // namespace waymark
