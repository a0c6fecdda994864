#include "training/federated/secure/key_agreement.h"

#include <openssl/evp.h>
#include <openssl/kdf.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "training/federated/secure/secure_random.h"

namespace waymark {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, FreeKey>;
using OwnedKeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeKey>;

OwnedKey SecretKey(const Key& secret) {
  return OwnedKey(EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, secret.data(), secret.size()));
}

absl::Status KeyFailed(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat("key agreement: ", what));
}

}  // namespace

absl::StatusOr<Key> KeyFromBytes(std::string_view bytes) {
  Key key{};
  if (bytes.size() != key.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a key has ", key.size(), " bytes, not ", bytes.size()));
  }
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

absl::StatusOr<Key> OpenKeyOf(const Key& secret) {
  const OwnedKey own = SecretKey(secret);
  Key open{};
  size_t length = open.size();
  if (!own || EVP_PKEY_get_raw_public_key(own.get(), open.data(), &length) != 1) {
    return KeyFailed("the secret key is none");
  }
  return open;
}

absl::StatusOr<KeyPair> MakeKeyPair() {
  KeyPair pair;
  if (auto status = FillRandom(absl::MakeSpan(pair.secret)); !status.ok()) return status;
  auto open = OpenKeyOf(pair.secret);
  if (!open.ok()) return open.status();
  pair.open = *open;
  return pair;
}

absl::StatusOr<Key> X25519(const Key& secret, const Key& peer) {
  const OwnedKey own = SecretKey(secret);
  const OwnedKey other(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, peer.data(), peer.size()));
  if (!own || !other) return KeyFailed("a key is none");
  const OwnedKeyContext context(EVP_PKEY_CTX_new(own.get(), nullptr));
  Key shared{};
  size_t length = shared.size();
  if (!context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), other.get()) != 1 ||
      EVP_PKEY_derive(context.get(), shared.data(), &length) != 1) {
    return KeyFailed("the other side's key is a point of small order");
  }
  return shared;
}

absl::StatusOr<std::vector<uint8_t>> HkdfSha256(std::string_view secret, std::string_view salt,
                                                std::string_view info, size_t length) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  const OwnedKeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
  std::vector<uint8_t> out(length);
  size_t written = length;
  if (!context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()) != 1 ||
      EVP_PKEY_CTX_set1_hkdf_salt(context.get(), bytes(salt), static_cast<int>(salt.size())) != 1 ||
      EVP_PKEY_CTX_set1_hkdf_key(context.get(), bytes(secret), static_cast<int>(secret.size())) != 1 ||
      EVP_PKEY_CTX_add1_hkdf_info(context.get(), bytes(info), static_cast<int>(info.size())) != 1 ||
      EVP_PKEY_derive(context.get(), out.data(), &written) != 1) {
    return absl::InternalError("HKDF failed");
  }
  return out;
}

absl::StatusOr<Key> AgreeOnKey(const Key& secret, const Key& peer, std::string_view purpose) {
  auto shared = X25519(secret, peer);
  if (!shared.ok()) return shared.status();
  auto bytes = HkdfSha256(BytesOf(*shared), "waymark federated 1", purpose, sizeof(Key));
  if (!bytes.ok()) return bytes.status();
  Key key{};
  std::copy(bytes->begin(), bytes->end(), key.begin());
  return key;
}

}  // namespace waymark
