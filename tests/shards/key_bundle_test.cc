#include "training/shards/key_bundle.h"

#include <sys/stat.h>

#include <fstream>

#include "tests/shards/written_shards.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

std::string BytesIn(const std::filesystem::path& file) { return *ReadWholeFile(file, 1 << 20); }

void PutBytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_CASE("a bundle holds what was written, for its owner alone") {
  const ShardFolder folder("waymark-keys");
  storage::KeyBundle bundle = BundleOf({3, 5, 8, 13}, {5});
  bundle.set_shards_sha256("abc");
  for (const mode_t usual : {0022, 0000}) {
    const mode_t before = umask(usual);
    REQUIRE(WriteKeyBundle(folder / "keys", bundle).ok());
    umask(before);
    struct stat entry = {};
    REQUIRE(stat((folder / "keys").c_str(), &entry) == 0);
    CHECK((entry.st_mode & 0777) == 0600);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "keys.new"));
  const auto keys = ShardKeys::Read(folder / "keys", {"shards", "abc", absl::Now()});
  REQUIRE(keys.ok());
  CHECK(keys->erased_users() == 1);
  CHECK(*keys->Find(13) == FolderKey("secret of 13", "salt"));
  CHECK(*keys->Find(3) == FolderKey("secret of 3", "salt"));
  CHECK(keys->Find(5)->empty());
  for (uint64_t user : {0, 4, 14}) {
    CHECK(absl::IsFailedPrecondition(keys->Find(user).status()));
    CHECK_THAT(std::string(keys->Find(user).status().message()),
               Contains(absl::StrCat("of user ", user, ", whom")));
  }
  // The same people give the same setting, whatever the keys; others do not.
  CHECK(keys->ErasedText() == ShardKeys(BundleOf({3, 5}, {5})).ErasedText());
  CHECK(keys->ErasedText() != ShardKeys(BundleOf({3, 5}, {3})).ErasedText());
  CHECK(ShardKeys(BundleOf({3, 5})).ErasedText().empty());
  CHECK(ShardKeys(BundleOf({3, 5})).Sha256() != ShardKeys(BundleOf({3, 5}, {5})).Sha256());
}

TEST_CASE("a bundle that has expired or belongs to other shards is refused with what to do") {
  const ShardFolder folder("waymark-keys");
  const absl::Time noon = absl::FromUnixSeconds(1700000000);  // 2023-11-14T22:13:20Z
  storage::KeyBundle bundle = BundleOf({3}, {}, noon);
  bundle.set_shards_sha256("abc");
  REQUIRE(WriteKeyBundle(folder / "keys", bundle).ok());
  const auto read = [&](const std::string& shards, absl::Time now) {
    return ShardKeys::Read(folder / "keys", {"my-shards", shards, now}).status();
  };
  CHECK(read("abc", noon - absl::Microseconds(1)).ok());
  CHECK(absl::IsFailedPrecondition(read("abc", noon)));
  CHECK_THAT(std::string(read("abc", noon + absl::Hours(1)).message()),
             Contains("expired at 2023-11-14T22:13:20+00:00, and it is 2023-11-14T23:13:20+00:00") &&
                 Contains("waymark export keys"));
  CHECK(absl::IsFailedPrecondition(read("abd", noon - absl::Hours(1))));
  CHECK_THAT(std::string(read("abd", noon - absl::Hours(1)).message()),
             Contains("other shards") && Contains("my-shards"));
  CHECK(absl::IsNotFound(ShardKeys::Read(folder / "none", {"s", "abc", noon}).status()));
}

TEST_CASE("a bundle that is cut off or changed anywhere is refused, and so is a newer format") {
  const ShardFolder folder("waymark-keys");
  REQUIRE(WriteKeyBundle(folder / "keys", BundleOf({3, 5, 8}, {5})).ok());
  const std::string whole = BytesIn(folder / "keys");
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    PutBytes(folder / "changed", changed);
    const absl::Status status = ReadKeyBundle(folder / "changed").status();
    CHECK_FALSE(status.ok());
    CHECK_THAT(std::string(status.message()), Contains("the key bundle"));
    PutBytes(folder / "cut", whole.substr(0, at));
    CHECK_FALSE(ReadKeyBundle(folder / "cut").ok());
  }
  std::string newer = whole;
  newer[8] = 2;
  PutBytes(folder / "newer", newer);
  CHECK_THAT(std::string(ReadKeyBundle(folder / "newer").status().message()),
             Contains("format 2; this program reads up to 1"));
}

}  // namespace
}  // namespace waymark
