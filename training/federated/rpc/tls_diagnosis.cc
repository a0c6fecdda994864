#include "training/federated/rpc/tls_diagnosis.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

struct FreeHandshake {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
template <class T>
using Held = std::unique_ptr<T, FreeHandshake>;

struct Socket {
  int fd = -1;
  ~Socket() {
    if (fd >= 0) close(fd);
  }
};

Held<BIO> PemReader(const std::string& pem) {
  return Held<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

absl::Status Connect(const std::string& address, const std::string& host, const std::string& port,
                     absl::Duration timeout, Socket* out) {
  addrinfo hints{}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int failed = getaddrinfo(host.c_str(), port.c_str(), &hints, &list); failed != 0) {
    return absl::UnavailableError(
        absl::StrCat("the coordinator's address ", address, " is not known: ", gai_strerror(failed)));
  }
  const Held<addrinfo> owned(list);
  std::string why = "no address";
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    Socket socket{::socket(a->ai_family, a->ai_socktype, a->ai_protocol)};
    if (socket.fd < 0) continue;
    const timeval limit = absl::ToTimeval(timeout);
    setsockopt(socket.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(socket.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(socket.fd, a->ai_addr, a->ai_addrlen) == 0) {
      std::swap(out->fd, socket.fd);
      return absl::OkStatus();
    }
    why = std::strerror(errno);
  }
  return absl::UnavailableError(absl::StrCat("no coordinator answers at ", address, ": ", why));
}

// What a peer that refused us said, or what went wrong otherwise.
std::string LastError() {
  const unsigned long code = ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "the connection was closed" : reason;
}

}  // namespace

absl::Status DiagnoseTls(const std::string& address, const TlsIdentity& me, absl::Duration timeout) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == address.size()) {
    return absl::InvalidArgumentError(absl::StrCat("'", address, "' is not HOST:PORT"));
  }
  const std::string host = address.substr(0, colon), port = address.substr(colon + 1);
  Socket socket;
  if (auto status = Connect(address, host, port, timeout, &socket); !status.ok()) return status;

  const Held<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  const Held<X509> authority(PEM_read_bio_X509(PemReader(me.authority_pem).get(), nullptr, nullptr, nullptr));
  const Held<X509> own(PEM_read_bio_X509(PemReader(me.certificate_pem).get(), nullptr, nullptr, nullptr));
  const Held<EVP_PKEY> key(PEM_read_bio_PrivateKey(PemReader(me.key_pem).get(), nullptr, nullptr, nullptr));
  if (!context || !authority || !own || !key ||
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority.get()) != 1 ||
      SSL_CTX_use_certificate(context.get(), own.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return absl::InternalError("TLS cannot be set up with these certificates");
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const Held<SSL> ssl(SSL_new(context.get()));
  static const unsigned char kHttp2[] = {2, 'h', '2'};
  if (!ssl || SSL_set_fd(ssl.get(), socket.fd) != 1 ||
      SSL_set_alpn_protos(ssl.get(), kHttp2, sizeof(kHttp2)) != 0) {
    return absl::InternalError("TLS cannot be set up");
  }
  SSL_set_tlsext_host_name(ssl.get(), host.c_str());
  X509_VERIFY_PARAM* param = SSL_get0_param(ssl.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(param, host.c_str()) != 1)
    X509_VERIFY_PARAM_set1_host(param, host.c_str(), 0);
  if (SSL_connect(ssl.get()) != 1) {
    const long verified = SSL_get_verify_result(ssl.get());
    if (verified != X509_V_OK) {
      ERR_clear_error();
      return absl::UnauthenticatedError(
          absl::StrCat("the certificate of the coordinator at ", address,
                       " is refused: ", X509_verify_cert_error_string(verified)));
    }
    return absl::UnauthenticatedError(
        absl::StrCat("the TLS handshake with ", address, " failed: ", LastError()));
  }
  // With TLS 1.3 the other side's refusal comes after the handshake, in the place of its first frame; gRPC
  // does not say why it refuses.
  char byte = 0;
  if (SSL_read(ssl.get(), &byte, 1) == 1) return absl::OkStatus();
  const std::string said = LastError(), problem = ProblemOf(me, TlsRole::kSite);
  return absl::UnauthenticatedError(absl::StrCat(
      "the coordinator at ", address, " refuses the certificate of '", me.name,
      "': ", problem.empty() ? absl::StrCat(said, " (is it of the coordinator's authority?)") : problem));
}

}  // namespace waymark
