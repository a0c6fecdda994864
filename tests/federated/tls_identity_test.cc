#include "training/federated/rpc/tls_identity.h"

#include <fstream>

#include "tests/federated/federation_fixture.h"
#include "tests/federated/test_certificates.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

std::string Refusal(const TlsFiles& files, TlsRole role = TlsRole::kSite) {
  return std::string(ReadTlsIdentity(files, role).status().message());
}

TEST_CASE("An identity has the certificate's common name and end") {
  FederationFolder folder;
  TestAuthority authority(folder / "ca");
  const auto me = ReadTlsIdentity(authority.Make({.name = "north"}), TlsRole::kSite);
  REQUIRE(me.ok());
  CHECK(me->name == "north");
  CHECK(absl::ToInt64Minutes(me->expires - absl::Now()) == Approx(24 * 60).margin(1));
}

TEST_CASE("Certificates that cannot be used are refused with file and reason") {
  FederationFolder folder;
  TestAuthority authority(folder / "ca"), other(folder / "other");
  const TlsFiles good = authority.Make({.name = "north"});
  TlsFiles files = good;

  CHECK_THAT(Refusal(authority.Make({.name = "old", .until = -absl::Minutes(5)})),
             Contains("old.pem") && Contains("expired at") && Contains("'old'"));
  CHECK_THAT(Refusal(authority.Make({.name = "early", .from = absl::Hours(1)})), Contains("valid from"));
  CHECK_THAT(Refusal(good, TlsRole::kCoordinator), Contains("serverAuth"));
  CHECK_THAT(Refusal(authority.Make({.name = "c", .role = TlsRole::kCoordinator})), Contains("clientAuth"));
  files.authority = other.file();
  CHECK_THAT(Refusal(files), Contains("does not hold under") && Contains("other/ca.pem"));
  files = good;
  files.key = authority.Make({.name = "south"}).key;
  CHECK_THAT(Refusal(files), Contains("south.key is not the key of the certificate"));
  files.key = folder / "nowhere.key";
  CHECK_THAT(Refusal(files), Contains("there is no file") && Contains("nowhere.key"));
  std::ofstream(folder / "text.pem") << "hello\n";
  files = good;
  files.certificate = folder / "text.pem";
  CHECK_THAT(Refusal(files), Contains("text.pem is no certificate"));
}

TEST_CASE("A signature holds for its message, its signer and our authority alone") {
  FederationFolder folder;
  TestAuthority authority(folder / "ca"), other(folder / "other");
  const TlsIdentity north = authority.Unchecked({.name = "north"}),
                    south = authority.Unchecked({.name = "south"});
  const TlsIdentity stranger = other.Unchecked({.name = "north"});
  const TlsIdentity coordinator = authority.Unchecked({.name = "c", .role = TlsRole::kCoordinator});
  const auto signature = SignWith(north, "keys");
  REQUIRE(signature.ok());
  CHECK(*VerifySigned(south, north.certificate_pem, "keys", *signature) == "north");
  CHECK(absl::IsPermissionDenied(
      VerifySigned(south, north.certificate_pem, "other keys", *signature).status()));
  CHECK(absl::IsPermissionDenied(VerifySigned(south, south.certificate_pem, "keys", *signature).status()));
  CHECK(absl::IsPermissionDenied(
      VerifySigned(south, stranger.certificate_pem, "keys", *SignWith(stranger, "keys")).status()));
  // A coordinator cannot pass for a site.
  CHECK(absl::IsPermissionDenied(
      VerifySigned(south, coordinator.certificate_pem, "keys", *SignWith(coordinator, "keys")).status()));
}

}  // namespace
}  // namespace waymark
