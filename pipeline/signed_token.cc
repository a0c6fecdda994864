#include "pipeline/signed_token.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kMacBytes = 16;              // 128 of the 256 bits
constexpr size_t kMaxTokenBytes = 64 << 10;   // compressed
constexpr size_t kMaxPlainBytes = 256 << 10;  // bounds what a forged length could allocate

std::string Mac(std::string_view key, std::string_view purpose, std::string_view body) {
  std::string input(purpose);
  input.push_back('\0');
  input.append(body);
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(input.data()), input.size(), out, &length);
  return std::string(reinterpret_cast<char*>(out), kMacBytes);
}

absl::StatusOr<std::string> RandomKey() {
  std::string key(kKeyBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(key.data()), kKeyBytes) != 1) {
    return absl::InternalError("the system gave no random bytes for the signing key");
  }
  return key;
}

// Appears whole or not at all; when two processes race, the first one's key stays.
absl::Status WriteNewKey(const std::filesystem::path& file, const std::string& key) {
  const std::string part = absl::StrCat(file.string(), ".", getpid());
  const int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto failed = [&file, &part]() {
    const std::string why = std::strerror(errno);
    unlink(part.c_str());
    return absl::UnavailableError(absl::StrCat("cannot write ", file.string(), ": ", why));
  };
  if (fd < 0) return failed();
  const bool written =
      write(fd, key.data(), key.size()) == static_cast<ssize_t>(key.size()) && fsync(fd) == 0;
  if (close(fd) != 0 || !written) return failed();
  if (link(part.c_str(), file.c_str()) != 0 && errno != EEXIST) return failed();
  unlink(part.c_str());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SigningKey> SigningKey::Open(const std::filesystem::path& data, bool create) {
  const std::filesystem::path file = data / "signing.key";
  if (!std::filesystem::exists(file)) {
    auto key = RandomKey();
    if (!key.ok()) return key.status();
    if (!create) return SigningKey(*std::move(key));
    if (auto status = WriteNewKey(file, *key); !status.ok()) return status;
  }
  std::ifstream in(file, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  if (!in || bytes.str().size() != kKeyBytes) {
    return absl::DataLossError(
        absl::StrCat(file.string(), " does not hold ", kKeyBytes,
                     " bytes; remove it and a new key is made (open page tokens then expire)"));
  }
  return SigningKey(bytes.str());
}

std::string SigningKey::Sign(std::string_view purpose, const google::protobuf::MessageLite& message) const {
  const std::string plain = message.SerializeAsString();
  std::string body(ZSTD_compressBound(plain.size()), '\0');
  body.resize(ZSTD_compress(body.data(), body.size(), plain.data(), plain.size(), 1));
  return absl::WebSafeBase64Escape(Mac(bytes_, purpose, body) + body);
}

absl::Status SigningKey::Verify(std::string_view purpose, std::string_view token,
                                google::protobuf::MessageLite* message) const {
  const auto refused = [purpose]() {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(purpose),
                     ": this is not a token that this server made; send back what it answered, unchanged"));
  };
  std::string raw;
  if (token.size() > kMaxTokenBytes || !absl::WebSafeBase64Unescape(std::string(token), &raw) ||
      raw.size() < kMacBytes) {
    return refused();
  }
  const std::string_view body = std::string_view(raw).substr(kMacBytes);
  const std::string expected = Mac(bytes_, purpose, body);
  if (CRYPTO_memcmp(expected.data(), raw.data(), kMacBytes) != 0) return refused();
  const unsigned long long size = ZSTD_getFrameContentSize(body.data(), body.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxPlainBytes)
    return refused();
  std::string plain(size, '\0');
  const size_t got = ZSTD_decompress(plain.data(), plain.size(), body.data(), body.size());
  if (ZSTD_isError(got) || got != size || !message->ParseFromString(plain)) return refused();
  return absl::OkStatus();
}

}  // namespace waymark
