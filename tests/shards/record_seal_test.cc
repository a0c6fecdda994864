#include "training/shards/record_seal.h"

#include <set>

#include "absl/strings/escaping.h"
#include "tests/support/catch.h"
#include "training/shards/example_features.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

std::string Counting(size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

TEST_CASE("a sealed record is that of another implementation, byte for byte") {
  // By Python's hmac, hashlib and cryptography.hazmat's AESGCM, after the description in the header.
  const std::string key = FolderKey(Counting(32), "salt");
  CHECK(absl::BytesToHexString(key) == "b0afb039c7e6e19076f2fecfec2b91eb909a40eda23998b0202707db7d6001a2");
  const auto sealed = SealRecord({"histories"}, key, 42, "a record");
  REQUIRE(sealed.ok());
  SealedRecord record;
  REQUIRE(ParseSealedRecord(*sealed, &record).ok());
  CHECK(record.user == 42);
  CHECK(absl::BytesToHexString(record.sealed) ==
        "ba2b7969c2390574f75de8ca047ae69531daf30db189ef53c2cc124bef6a3dd0b5a1e82a2f27a04e");
}

TEST_CASE("what was sealed opens again, however it is packed, and never under what is not its own") {
  const std::string key = FolderKey("secret", "salt"), other = FolderKey("secret", "another salt");
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i * i) + " ";
  for (const ShardPacking packing : {ShardPacking::kNone, ShardPacking::kGzip, ShardPacking::kZstd}) {
    for (const std::string& record : {std::string(), std::string("x"), text}) {
      const SealedKind kind{"lists", packing};
      SealedRecord sealed;
      REQUIRE(ParseSealedRecord(*SealRecord(kind, key, 7, record), &sealed).ok());
      const auto opened = OpenSealedRecord(kind, key, sealed);
      REQUIRE(opened.ok());
      CHECK(*opened == record);
      CHECK(sealed.sealed.find("1 4 9") == std::string::npos);
      CHECK(absl::IsDataLoss(OpenSealedRecord(kind, other, sealed).status()));
      CHECK(absl::IsDataLoss(OpenSealedRecord({"histories", packing}, key, sealed).status()));
      sealed.user = 8;
      CHECK(absl::IsDataLoss(OpenSealedRecord(kind, key, sealed).status()));
    }
  }
}

TEST_CASE("any bit that changes in what is sealed is found, and the user is named") {
  const std::string key = FolderKey("secret", "salt");
  SealedRecord sealed;
  REQUIRE(ParseSealedRecord(*SealRecord({"histories"}, key, 12345, "what a user did"), &sealed).ok());
  const SealedRecord whole = sealed;
  for (size_t at = 0; at < whole.sealed.size(); ++at) {
    sealed.sealed[at] = static_cast<char>(whole.sealed[at] ^ (1 << at % 8));
    const absl::Status opened = OpenSealedRecord({"histories"}, key, sealed).status();
    CHECK(absl::IsDataLoss(opened));
    CHECK_THAT(std::string(opened.message()), Contains("12345"));
    sealed = whole;
  }
  CHECK(OpenSealedRecord({"histories"}, key, sealed).ok());
}

TEST_CASE("no two records share a nonce, and the same one is the same bytes") {
  const std::string key = FolderKey("secret", "salt");
  std::set<std::string> nonces;
  for (int i = 0; i < 1000; ++i) {
    SealedRecord sealed, again;
    REQUIRE(ParseSealedRecord(*SealRecord({"lists"}, key, 7, std::to_string(i)), &sealed).ok());
    REQUIRE(ParseSealedRecord(*SealRecord({"lists"}, key, 7, std::to_string(i)), &again).ok());
    CHECK(sealed.sealed == again.sealed);
    nonces.insert(sealed.sealed.substr(0, 12));
  }
  CHECK(nonces.size() == 1000);
}

TEST_CASE("what is no sealed record is told") {
  SealedRecord sealed;
  CHECK_THAT(std::string(ParseSealedRecord("\xff\xff", &sealed).message()), Contains("tf.train.Example"));
  storage::Example example;
  NumbersOf(&example, "user")->Add(1);
  CHECK_THAT(std::string(ParseSealedRecord(PrintExample(example), &sealed).message()), Contains("'sealed'"));
  (*example.mutable_features()->mutable_feature())["sealed"].mutable_bytes_list()->add_value("short");
  CHECK_THAT(std::string(ParseSealedRecord(PrintExample(example), &sealed).message()), Contains("'sealed'"));
}

}  // namespace
}  // namespace waymark
