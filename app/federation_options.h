// Options that the two sides of `waymark federate` have in common.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/federated/rpc/tls_identity.h"

namespace CLI {
class App;
}

namespace waymark {

struct CertificateOptions {
  std::string authority, certificate, key;
};
// --ca, --cert, --key.
void AddCertificateOptions(CLI::App* command, CertificateOptions* options);
absl::StatusOr<TlsIdentity> ReadIdentity(const CertificateOptions& options, TlsRole role);

// Of a list of item ids, one a line; NOT_FOUND, INVALID_ARGUMENT name the file: none in it, one twice.
absl::StatusOr<std::vector<std::string>> ReadItemIds(const std::string& file);

}  // namespace waymark
