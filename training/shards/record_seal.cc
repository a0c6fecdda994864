#include "training/shards/record_seal.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "training/shards/example_features.h"

namespace waymark {
namespace {

constexpr size_t kNonceBytes = 12, kTagBytes = 16, kLengthBytes = 4;
constexpr uint32_t kMaxRecordBytes = uint32_t{1} << 30;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string* text) { return reinterpret_cast<unsigned char*>(text->data()); }

std::string Hmac(std::string_view key, std::string_view text) {
  std::string out(EVP_MAX_MD_SIZE, '\0');
  unsigned int length = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), Bytes(text), text.size(), Bytes(&out),
           &length) == nullptr) {
    return "";  // no memory; no cipher takes such a key
  }
  out.resize(length);
  return out;
}

std::string AssociatedData(const SealedKind& kind, uint64_t user) {
  return absl::StrCat("waymark shard record 1 ", std::string(kind.kind), " ", user);
}

// One use of AES-256-GCM.
class Cipher {
 public:
  Cipher(bool seal, std::string_view key, std::string_view nonce, std::string_view associated)
      : seal_(seal), context_(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free) {
    int length = 0;
    ok_ =
        context_ != nullptr && key.size() == kFolderKeyBytes && nonce.size() == kNonceBytes &&
        EVP_CipherInit_ex(context_.get(), EVP_aes_256_gcm(), nullptr, Bytes(key), Bytes(nonce), seal) == 1 &&
        EVP_CipherUpdate(context_.get(), nullptr, &length, Bytes(associated),
                         static_cast<int>(associated.size())) == 1;
  }
  // out: as long as `text`. False: failed, or the tag is another's.
  bool Run(std::string_view text, std::string* tag, std::string* out) {
    int length = 0;
    out->resize(text.size());
    if (!ok_) return false;
    if (!seal_ && EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag->data()) != 1) {
      return false;
    }
    if (EVP_CipherUpdate(context_.get(), Bytes(out), &length, Bytes(text), static_cast<int>(text.size())) !=
        1) {
      return false;
    }
    unsigned char none[EVP_MAX_BLOCK_LENGTH];
    if (EVP_CipherFinal_ex(context_.get(), none, &length) != 1) return false;
    tag->resize(kTagBytes);
    return !seal_ || EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag->data()) == 1;
  }

 private:
  bool seal_, ok_ = false;
  std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context_;
};

}  // namespace

std::string FolderKey(std::string_view secret, std::string_view salt) {
  return Hmac(secret, absl::StrCat("waymark shards ", std::string(salt)));
}

absl::StatusOr<std::string> SealRecord(const SealedKind& kind, std::string_view key, uint64_t user,
                                       std::string_view record) {
  if (record.size() > kMaxRecordBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("a record of user ", user, " has ", record.size(),
                                                     " bytes, more than ", kMaxRecordBytes,
                                                     ", and cannot be sealed"));
  }
  auto packed = Pack(kind.packing, record);
  if (!packed.ok()) return packed.status();
  const auto length = static_cast<uint32_t>(record.size());
  std::string text(kLengthBytes, '\0');
  std::memcpy(text.data(), &length, kLengthBytes);
  text += *packed;
  const std::string associated = AssociatedData(kind, user);
  const std::string nonce =
      Hmac(Hmac(key, "nonce"), absl::StrCat(associated, "\n", text)).substr(0, kNonceBytes);
  std::string tag, sealed;
  if (!Cipher(true, Hmac(key, "record"), nonce, associated).Run(text, &tag, &sealed)) {
    return absl::InternalError("libcrypto could not seal a record");
  }
  storage::Example out;
  NumbersOf(&out, "user")->Add(static_cast<int64_t>(user));
  (*out.mutable_features()->mutable_feature())["sealed"].mutable_bytes_list()->add_value(
      absl::StrCat(nonce, sealed, tag));
  return PrintExample(out);
}

absl::Status ParseSealedRecord(std::string_view record, SealedRecord* out) {
  storage::Example in;
  if (!in.ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    return absl::DataLossError("is no tf.train.Example");
  }
  int64_t user = 0;
  if (absl::Status read = ReadNumber(in, "user", &user); !read.ok()) return read;
  const storage::Feature* sealed = FindFeature(in, "sealed");
  if (sealed == nullptr || sealed->bytes_list().value_size() != 1 ||
      sealed->bytes_list().value(0).size() < kNonceBytes + kTagBytes + kLengthBytes) {
    return WrongFeature("sealed", "is not one sealed text");
  }
  out->user = static_cast<uint64_t>(user);
  out->sealed = sealed->bytes_list().value(0);
  return absl::OkStatus();
}

absl::StatusOr<std::string> OpenSealedRecord(const SealedKind& kind, std::string_view key,
                                             const SealedRecord& record) {
  const std::string_view sealed = record.sealed;
  std::string tag(sealed.substr(sealed.size() - kTagBytes)), text;
  const std::string_view body = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  if (!Cipher(false, Hmac(key, "record"), sealed.substr(0, kNonceBytes), AssociatedData(kind, record.user))
           .Run(body, &tag, &text)) {
    return absl::DataLossError(
        absl::StrCat("what is sealed for user ", record.user,
                     " does not open under that user's key: it was changed, or sealed under another key"));
  }
  uint32_t length = 0;
  std::memcpy(&length, text.data(), kLengthBytes);
  if (length > kMaxRecordBytes) {
    return absl::DataLossError(absl::StrCat("would unpack to ", length, " bytes"));
  }
  return Unpack(kind.packing, std::string_view(text).substr(kLengthBytes), length);
}

}  // namespace waymark
