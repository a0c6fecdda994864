// Why a connection over TLS does not come about, in words: gRPC answers UNAVAILABLE for all of it.
#pragma once
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "training/federated/rpc/tls_identity.h"

namespace waymark {

// Makes one connection and a handshake of its own. OK: it came about. UNAVAILABLE: nobody answers there (may
// be tried again); UNAUTHENTICATED: a certificate is refused, whose and why; INVALID_ARGUMENT: no HOST:PORT.
absl::Status DiagnoseTls(const std::string& address, const TlsIdentity& me, absl::Duration timeout);

}  // namespace waymark
