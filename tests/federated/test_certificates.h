// An authority and certificates of it, as files in a folder of the test's own.
#pragma once
#include <filesystem>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "training/federated/rpc/tls_identity.h"

namespace waymark::tests {

struct CertificateWish {
  std::string name;
  TlsRole role = TlsRole::kSite;
  absl::Duration from = -absl::Hours(1), until = absl::Hours(24);  // from now
};

class TestAuthority {
 public:
  explicit TestAuthority(const std::filesystem::path& folder);  // makes the folder
  ~TestAuthority();
  // Writes NAME.pem and NAME.key; signed by this authority, for localhost and 127.0.0.1.
  TlsFiles Make(const CertificateWish& wish);
  // The files, read without any check.
  TlsIdentity Unchecked(const CertificateWish& wish);
  const std::filesystem::path& file() const { return file_; }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::filesystem::path folder_, file_;
};

std::string ReadAll(const std::filesystem::path& file);

}  // namespace waymark::tests
