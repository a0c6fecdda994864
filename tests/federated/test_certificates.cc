#include "tests/federated/test_certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <fstream>
#include <sstream>

#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  REQUIRE(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* MakeCertificate(const std::string& name, EVP_PKEY* key, absl::Duration from, absl::Duration until) {
  static long serial = 1;
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), absl::ToInt64Seconds(from));
  X509_gmtime_adj(X509_getm_notAfter(certificate), absl::ToInt64Seconds(until));
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

void WriteCertificate(const std::filesystem::path& file, X509* certificate) {
  BIO* bio = BIO_new_file(file.c_str(), "w");
  PEM_write_bio_X509(bio, certificate);
  BIO_free(bio);
}

}  // namespace

std::string ReadAll(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct TestAuthority::Parts {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = nullptr;
  ~Parts() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

TestAuthority::TestAuthority(const std::filesystem::path& folder)
    : parts_(std::make_unique<Parts>()), folder_(folder), file_(folder / "ca.pem") {
  std::filesystem::create_directories(folder);
  parts_->certificate = MakeCertificate("test authority", parts_->key, -absl::Hours(48), absl::Hours(48));
  X509_set_issuer_name(parts_->certificate, X509_get_subject_name(parts_->certificate));
  AddExtension(parts_->certificate, parts_->certificate, NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(parts_->certificate, parts_->key, EVP_sha256());
  WriteCertificate(file_, parts_->certificate);
}

TestAuthority::~TestAuthority() = default;

TlsFiles TestAuthority::Make(const CertificateWish& wish) {
  const TlsFiles files{file_, folder_ / (wish.name + ".pem"), folder_ / (wish.name + ".key")};
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = MakeCertificate(wish.name, key, wish.from, wish.until);
  X509_set_issuer_name(certificate, X509_get_subject_name(parts_->certificate));
  AddExtension(certificate, parts_->certificate, NID_ext_key_usage,
               wish.role == TlsRole::kSite ? "clientAuth" : "serverAuth");
  AddExtension(certificate, parts_->certificate, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  X509_sign(certificate, parts_->key, EVP_sha256());
  WriteCertificate(files.certificate, certificate);
  BIO* bio = BIO_new_file(files.key.c_str(), "w");
  PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  BIO_free(bio);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return files;
}

TlsIdentity TestAuthority::Unchecked(const CertificateWish& wish) {
  const TlsFiles files = Make(wish);
  return {ReadAll(files.authority), ReadAll(files.certificate), ReadAll(files.key), wish.name,
          absl::InfiniteFuture()};
}

}  // namespace waymark::tests
