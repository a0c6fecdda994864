#include "training/federated/secure/sealed_message.h"

#include <openssl/evp.h>

#include <memory>

#include "training/federated/secure/secure_random.h"

namespace waymark {
namespace {

constexpr size_t kNonce = 12, kTag = 16;

struct FreeGcm {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Gcm = std::unique_ptr<EVP_CIPHER_CTX, FreeGcm>;

unsigned char* Writable(std::string& text, size_t at) {
  return reinterpret_cast<unsigned char*>(text.data()) + at;
}
const unsigned char* Readable(std::string_view text, size_t at = 0) {
  return reinterpret_cast<const unsigned char*>(text.data()) + at;
}

}  // namespace

absl::StatusOr<std::string> SealMessage(const Key& key, std::string_view context, std::string_view message) {
  uint8_t nonce[kNonce];
  if (auto status = FillRandom(absl::MakeSpan(nonce)); !status.ok()) return status;
  std::string out(reinterpret_cast<char*>(nonce), kNonce);
  out.resize(kNonce + message.size() + kTag);
  const Gcm gcm(EVP_CIPHER_CTX_new());
  int written = 0;
  if (!gcm || EVP_EncryptInit_ex(gcm.get(), EVP_aes_256_gcm(), nullptr, key.data(), nonce) != 1 ||
      EVP_EncryptUpdate(gcm.get(), nullptr, &written, Readable(context), static_cast<int>(context.size())) !=
          1 ||
      EVP_EncryptUpdate(gcm.get(), Writable(out, kNonce), &written, Readable(message),
                        static_cast<int>(message.size())) != 1 ||
      EVP_EncryptFinal_ex(gcm.get(), Writable(out, kNonce + message.size()), &written) != 1 ||
      EVP_CIPHER_CTX_ctrl(gcm.get(), EVP_CTRL_GCM_GET_TAG, kTag, Writable(out, kNonce + message.size())) !=
          1) {
    return absl::InternalError("AES-256-GCM failed");
  }
  return out;
}

absl::StatusOr<std::string> OpenMessage(const Key& key, std::string_view context, std::string_view sealed) {
  const absl::Status refused =
      absl::DataLossError("a sealed message was changed, or is for somebody else or another round");
  if (sealed.size() < kNonce + kTag) return refused;
  const size_t length = sealed.size() - kNonce - kTag;
  std::string out(length, '\0'), tag(sealed.substr(kNonce + length));
  const Gcm gcm(EVP_CIPHER_CTX_new());
  int written = 0;
  if (!gcm || EVP_DecryptInit_ex(gcm.get(), EVP_aes_256_gcm(), nullptr, key.data(), Readable(sealed)) != 1 ||
      EVP_DecryptUpdate(gcm.get(), nullptr, &written, Readable(context), static_cast<int>(context.size())) !=
          1 ||
      EVP_DecryptUpdate(gcm.get(), Writable(out, 0), &written, Readable(sealed, kNonce),
                        static_cast<int>(length)) != 1 ||
      EVP_CIPHER_CTX_ctrl(gcm.get(), EVP_CTRL_GCM_SET_TAG, kTag, Writable(tag, 0)) != 1 ||
      EVP_DecryptFinal_ex(gcm.get(), Writable(out, length), &written) != 1) {
    return refused;
  }
  return out;
}

}  // namespace waymark
