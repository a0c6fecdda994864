// Who a program is to others of a federation: its certificate, the key of it, and the authority that all
// trust.
//
//   auto me = ReadTlsIdentity({ca, certificate, key}, TlsRole::kSite);
//   auto signature = SignWith(*me, message);
//   auto name = VerifySigned(*me, their_certificate, message, signature);   // the signer's common name
//
// Files are PEM. Thread-safe (no state that changes). No gRPC and no OpenSSL in this header.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace waymark {

enum class TlsRole { kCoordinator, kSite };

struct TlsFiles {
  std::filesystem::path authority, certificate, key;
};

struct TlsIdentity {
  std::string authority_pem, certificate_pem, key_pem;
  std::string name;  // the certificate's common name
  absl::Time expires;
};

// INVALID_ARGUMENT, NOT_FOUND name the file and what is wrong with it: not there, no PEM, a key that is not
// the certificate's, expired or not yet valid, not signed by the authority, not for this role (extended key
// usage serverAuth or clientAuth).
absl::StatusOr<TlsIdentity> ReadTlsIdentity(const TlsFiles& files, TlsRole role);

// What is wrong with our own certificate by now («certificate has expired»); empty: nothing.
std::string ProblemOf(const TlsIdentity& me, TlsRole role);

absl::StatusOr<std::string> SignWith(const TlsIdentity& me, std::string_view message);

// The common name of the site that signed. PERMISSION_DENIED: the certificate is not a site's, not of our
// authority, expired, or the signature is not its.
absl::StatusOr<std::string> VerifySigned(const TlsIdentity& me, std::string_view certificate_pem,
                                         std::string_view message, std::string_view signature);

}  // namespace waymark
