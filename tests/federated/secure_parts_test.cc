#include <map>

#include "absl/strings/escaping.h"
#include "tests/support/catch.h"
#include "training/federated/secure/key_agreement.h"
#include "training/federated/secure/mask_stream.h"
#include "training/federated/secure/sealed_message.h"
#include "training/federated/secure/shamir_sharing.h"

namespace waymark {
namespace {

std::string FromHex(const std::string& hex) { return absl::HexStringToBytes(hex); }
Key KeyOf(const std::string& hex) { return *KeyFromBytes(FromHex(hex)); }
std::string HexOf(const Key& key) { return absl::BytesToHexString(std::string(BytesOf(key))); }

TEST_CASE("Multiplication and inverses in GF(256) are those of AES") {
  // FIPS 197, 4.2 and 4.2.1.
  CHECK(MultiplyGf256(0x57, 0x83) == 0xc1);
  CHECK(MultiplyGf256(0x57, 0x13) == 0xfe);
  CHECK(InvertGf256(0x53) == 0xca);
  for (int a = 1; a < 256; ++a) {
    CHECK(MultiplyGf256(static_cast<uint8_t>(a), InvertGf256(static_cast<uint8_t>(a))) == 1);
  }
}

TEST_CASE("Shares that were worked out by hand give their secret") {
  // Secret 0x42, f(x) = 0x42 + 0x57 x: f(0x83) = 0x42 ^ 0xc1 = 0x83, f(0x13) = 0x42 ^ 0xfe = 0xbc.
  const auto secret = JoinSecret({{0x83, {0x83}}, {0x13, {0xbc}}}, 2);
  REQUIRE(secret.ok());
  CHECK(*secret == std::vector<uint8_t>{0x42});
}

TEST_CASE("Any three of five shares give the secret, two of them fit every secret") {
  std::vector<uint8_t> secret(32);
  for (size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<uint8_t>(i * 37);
  const auto shares = SplitSecret(secret, 3, 5);
  REQUIRE(shares.ok());
  for (size_t a = 0; a < 5; ++a) {
    for (size_t b = a + 1; b < 5; ++b) {
      for (size_t c = b + 1; c < 5; ++c) {
        const auto again = JoinSecret({(*shares)[c], (*shares)[a], (*shares)[b]}, 3);
        REQUIRE(again.ok());
        CHECK(*again == secret);
      }
    }
  }
  // With two shares fixed, the third can be chosen so that any byte comes out.
  std::map<uint8_t, int> reached;
  for (int value = 0; value < 256; ++value) {
    const auto joined = JoinSecret(
        {{1, {(*shares)[0].bytes[0]}}, {2, {(*shares)[1].bytes[0]}}, {3, {static_cast<uint8_t>(value)}}}, 3);
    ++reached[(*joined)[0]];
  }
  CHECK(reached.size() == 256);
}

TEST_CASE("Too few shares, places that stand twice and thresholds out of range are refused") {
  const std::vector<uint8_t> secret(32, 7);
  const auto shares = SplitSecret(secret, 3, 5);
  REQUIRE(shares.ok());
  CHECK(absl::IsFailedPrecondition(JoinSecret({(*shares)[0], (*shares)[1]}, 3).status()));
  CHECK(absl::IsInvalidArgument(JoinSecret({(*shares)[0], (*shares)[1], (*shares)[1]}, 3).status()));
  CHECK(absl::IsInvalidArgument(SplitSecret(secret, 0, 5).status()));
  CHECK(absl::IsInvalidArgument(SplitSecret(secret, 6, 5).status()));
  CHECK(absl::IsInvalidArgument(SplitSecret(secret, 6, 256).status()));
}

TEST_CASE("X25519 gives the keys of RFC 7748, 6.1") {
  const Key alice = KeyOf("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
  const Key bob = KeyOf("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
  CHECK(HexOf(*OpenKeyOf(alice)) == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  CHECK(HexOf(*OpenKeyOf(bob)) == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  const std::string shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
  CHECK(HexOf(*X25519(alice, *OpenKeyOf(bob))) == shared);
  CHECK(HexOf(*X25519(bob, *OpenKeyOf(alice))) == shared);
  CHECK(absl::IsInvalidArgument(X25519(alice, Key{}).status()));  // 0 is a point of small order
}

TEST_CASE("HKDF gives the output of RFC 5869, A.1") {
  const auto out = HkdfSha256(std::string(22, '\x0b'), FromHex("000102030405060708090a0b0c"),
                              FromHex("f0f1f2f3f4f5f6f7f8f9"), 42);
  REQUIRE(out.ok());
  CHECK(absl::BytesToHexString(std::string(out->begin(), out->end())) ==
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
}

TEST_CASE("Both sides agree on a key, and another purpose gives another") {
  const auto one = MakeKeyPair(), other = MakeKeyPair();
  REQUIRE(one.ok());
  REQUIRE(other.ok());
  CHECK(*AgreeOnKey(one->secret, other->open, "p") == *AgreeOnKey(other->secret, one->open, "p"));
  CHECK(*AgreeOnKey(one->secret, other->open, "p") != *AgreeOnKey(one->secret, other->open, "q"));
}

TEST_CASE("A mask is the key stream of AES-256-CTR, and taking it off leaves what was there") {
  // The first blocks under a key of zeros: GCM specification (McGrew, Viega), test case 13, H and E(K, Y0).
  std::vector<uint64_t> values(4, 0);
  REQUIRE(AddMask(Key{}, MaskSign::kPlus, absl::MakeSpan(values)).ok());
  CHECK(absl::BytesToHexString(std::string(reinterpret_cast<const char*>(values.data()), 32)) ==
        "dc95c078a2408989ad48a21492842087530f8afbc74536b9a963b4f1c4cb738b");

  std::vector<uint64_t> many(50001);
  for (size_t i = 0; i < many.size(); ++i) many[i] = i * 2654435761u;
  const std::vector<uint64_t> before = many;
  Key seed{};
  seed[5] = 9;
  REQUIRE(AddMask(seed, MaskSign::kPlus, absl::MakeSpan(many)).ok());
  size_t same = 0;
  for (size_t i = 0; i < many.size(); ++i) same += many[i] == before[i];
  CHECK(same == 0);  // of 50,001, each by a chance of 2^-64
  REQUIRE(AddMask(seed, MaskSign::kMinus, absl::MakeSpan(many)).ok());
  CHECK(many == before);
}

TEST_CASE("A sealed message opens under its key and context alone") {
  // GCM specification, test case 14.
  const auto zeros = OpenMessage(Key{}, "",
                                 FromHex("000000000000000000000000"
                                         "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"));
  REQUIRE(zeros.ok());
  CHECK(*zeros == std::string(16, '\0'));

  Key key{};
  key[0] = 1;
  const auto sealed = SealMessage(key, "1>2", "shares");
  REQUIRE(sealed.ok());
  CHECK(*OpenMessage(key, "1>2", *sealed) == "shares");
  CHECK(absl::IsDataLoss(OpenMessage(key, "1>3", *sealed).status()));
  CHECK(absl::IsDataLoss(OpenMessage(Key{}, "1>2", *sealed).status()));
  for (size_t i = 0; i < sealed->size(); ++i) {
    std::string changed = *sealed;
    changed[i] ^= 1;
    CHECK(absl::IsDataLoss(OpenMessage(key, "1>2", changed).status()));
  }
  CHECK(absl::IsDataLoss(OpenMessage(key, "1>2", sealed->substr(0, 20)).status()));
}

}  // namespace
}  // namespace waymark
