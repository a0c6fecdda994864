#include "training/federated/rpc/tls_identity.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "store/package/package_files.h"

namespace waymark {
namespace {

constexpr uint64_t kLargestPem = 1 << 20;

struct FreeTls {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
  void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
};
template <class T>
using Own = std::unique_ptr<T, FreeTls>;

// A key under a password is refused instead of asked for on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

Own<BIO> Reader(std::string_view pem) {
  return Own<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

Own<X509> CertificateOf(std::string_view pem) {
  return Own<X509>(PEM_read_bio_X509(Reader(pem).get(), nullptr, NoPassword, nullptr));
}
Own<EVP_PKEY> PrivateKeyOf(std::string_view pem) {
  return Own<EVP_PKEY>(PEM_read_bio_PrivateKey(Reader(pem).get(), nullptr, NoPassword, nullptr));
}

std::string CommonName(X509* certificate) {
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
  return name;
}

absl::Time TimeOf(const ASN1_TIME* asn1) {
  tm parts{};
  ASN1_TIME_to_tm(asn1, &parts);
  return absl::FromTM(parts, absl::UTCTimeZone());
}

// Empty: it holds.
std::string Problem(const std::string& authority_pem, X509* certificate, int purpose) {
  const Own<X509> authority = CertificateOf(authority_pem);
  const Own<X509_STORE> store(X509_STORE_new());
  const Own<X509_STORE_CTX> context(X509_STORE_CTX_new());
  if (!authority || !store || !context || X509_STORE_add_cert(store.get(), authority.get()) != 1 ||
      X509_STORE_CTX_init(context.get(), store.get(), certificate, nullptr) != 1 ||
      X509_STORE_CTX_set_purpose(context.get(), purpose) != 1) {
    return "cannot be checked";
  }
  if (X509_verify_cert(context.get()) == 1) return "";
  return X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get()));
}

absl::StatusOr<std::string> ReadPem(const std::filesystem::path& file, const char* what) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    return absl::NotFoundError(absl::StrCat("there is no file ", file.string(), " (", what, ")"));
  }
  return ReadWholeFile(file, kLargestPem);
}

std::string Day(absl::Time time) { return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone()); }

}  // namespace

absl::StatusOr<TlsIdentity> ReadTlsIdentity(const TlsFiles& files, TlsRole role) {
  TlsIdentity me;
  struct Part {
    const std::filesystem::path& file;
    const char* what;
    std::string* pem;
  };
  for (const Part& part : {Part{files.authority, "the authority's certificate", &me.authority_pem},
                           Part{files.certificate, "the certificate", &me.certificate_pem},
                           Part{files.key, "the certificate's key", &me.key_pem}}) {
    auto pem = ReadPem(part.file, part.what);
    if (!pem.ok()) return pem.status();
    *part.pem = *std::move(pem);
  }
  const auto wrong = [](const std::filesystem::path& file, const std::string& what) {
    ERR_clear_error();
    return absl::InvalidArgumentError(absl::StrCat(file.string(), " ", what));
  };
  const Own<X509> authority = CertificateOf(me.authority_pem),
                  certificate = CertificateOf(me.certificate_pem);
  const Own<EVP_PKEY> key = PrivateKeyOf(me.key_pem);
  if (!authority) return wrong(files.authority, "is no certificate in PEM");
  if (!certificate) return wrong(files.certificate, "is no certificate in PEM");
  if (!key) return wrong(files.key, "is no private key in PEM, or lies under a password");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return wrong(files.key,
                 absl::StrCat("is not the key of the certificate in ", files.certificate.string()));
  }
  me.name = CommonName(certificate.get());
  if (me.name.empty()) return wrong(files.certificate, "has no common name (CN), which names the site");
  me.expires = TimeOf(X509_get0_notAfter(certificate.get()));
  const std::string who = absl::StrCat("(certificate of '", me.name, "') ");
  if (me.expires < absl::Now()) {
    return wrong(files.certificate,
                 absl::StrCat(who, "expired at ", Day(me.expires), "; have a new one made"));
  }
  const absl::Time from = TimeOf(X509_get0_notBefore(certificate.get()));
  if (from > absl::Now()) {
    return wrong(files.certificate, absl::StrCat(who, "is valid from ", Day(from), " only"));
  }
  const int purpose = role == TlsRole::kSite ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER;
  if (const std::string problem = Problem(me.authority_pem, certificate.get(), purpose); !problem.empty()) {
    return wrong(files.certificate,
                 absl::StrCat(who, "does not hold under ", files.authority.string(), ": ", problem, " (a ",
                              role == TlsRole::kSite ? "site" : "coordinator", " needs extended key usage ",
                              role == TlsRole::kSite ? "clientAuth" : "serverAuth", ")"));
  }
  return me;
}

std::string ProblemOf(const TlsIdentity& me, TlsRole role) {
  const Own<X509> certificate = CertificateOf(me.certificate_pem);
  if (!certificate) return "it is no certificate";
  return Problem(me.authority_pem, certificate.get(),
                 role == TlsRole::kSite ? X509_PURPOSE_SSL_CLIENT : X509_PURPOSE_SSL_SERVER);
}

absl::StatusOr<std::string> SignWith(const TlsIdentity& me, std::string_view message) {
  const Own<EVP_PKEY> key = PrivateKeyOf(me.key_pem);
  const Own<EVP_MD_CTX> context(EVP_MD_CTX_new());
  // Ed25519 has its own digest.
  const EVP_MD* digest = key && EVP_PKEY_id(key.get()) == EVP_PKEY_ED25519 ? nullptr : EVP_sha256();
  const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
  size_t length = 0;
  if (!key || !context || EVP_DigestSignInit(context.get(), nullptr, digest, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &length, bytes, message.size()) != 1) {
    return absl::InternalError("the certificate's key cannot sign");
  }
  std::string signature(length, '\0');
  if (EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &length, bytes,
                     message.size()) != 1) {
    return absl::InternalError("the certificate's key cannot sign");
  }
  signature.resize(length);
  return signature;
}

absl::StatusOr<std::string> VerifySigned(const TlsIdentity& me, std::string_view certificate_pem,
                                         std::string_view message, std::string_view signature) {
  const Own<X509> certificate = CertificateOf(certificate_pem);
  if (!certificate) {
    ERR_clear_error();
    return absl::PermissionDeniedError("what came as a certificate is none");
  }
  const std::string name = CommonName(certificate.get());
  if (const std::string problem = Problem(me.authority_pem, certificate.get(), X509_PURPOSE_SSL_CLIENT);
      !problem.empty()) {
    return absl::PermissionDeniedError(
        absl::StrCat("the certificate of '", name, "' does not hold: ", problem));
  }
  EVP_PKEY* key = X509_get0_pubkey(certificate.get());
  const Own<EVP_MD_CTX> context(EVP_MD_CTX_new());
  const EVP_MD* digest = key && EVP_PKEY_id(key) == EVP_PKEY_ED25519 ? nullptr : EVP_sha256();
  if (!key || !context || EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) != 1 ||
      EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(), reinterpret_cast<const unsigned char*>(message.data()),
                       message.size()) != 1) {
    ERR_clear_error();
    return absl::PermissionDeniedError(absl::StrCat("the signature is not that of '", name, "'"));
  }
  return name;
}

}  // namespace waymark
