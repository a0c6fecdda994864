#include "training/federated/secure/mask_stream.h"

#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

namespace waymark {
namespace {

constexpr size_t kNumbersAtOnce = 1 << 14;
static_assert(std::endian::native == std::endian::little, "masks are read as little-endian numbers");

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

}  // namespace

absl::Status AddMask(const Key& seed, MaskSign sign, absl::Span<uint64_t> values) {
  const std::unique_ptr<EVP_CIPHER_CTX, FreeCipher> cipher(EVP_CIPHER_CTX_new());
  const unsigned char counter[16] = {};
  if (!cipher || EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_ctr(), nullptr, seed.data(), counter) != 1) {
    return absl::InternalError("AES-256-CTR cannot be set up");
  }
  const std::vector<uint64_t> zeros(kNumbersAtOnce, 0);
  std::vector<uint64_t> mask(kNumbersAtOnce);
  for (size_t first = 0; first < values.size(); first += kNumbersAtOnce) {
    const size_t count = std::min(kNumbersAtOnce, values.size() - first);
    int written = 0;
    if (EVP_EncryptUpdate(cipher.get(), reinterpret_cast<unsigned char*>(mask.data()), &written,
                          reinterpret_cast<const unsigned char*>(zeros.data()),
                          static_cast<int>(count * sizeof(uint64_t))) != 1) {
      return absl::InternalError("AES-256-CTR failed");
    }
    uint64_t* own = values.data() + first;
    if (sign == MaskSign::kPlus) {
      for (size_t i = 0; i < count; ++i) own[i] += mask[i];
    } else {
      for (size_t i = 0; i < count; ++i) own[i] -= mask[i];
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
