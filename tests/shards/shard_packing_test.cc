#include "training/shards/shard_packing.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("What was packed is unpacked again, and no more than was said") {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 1000) + " ";
  for (const ShardPacking packing : {ShardPacking::kNone, ShardPacking::kGzip, ShardPacking::kZstd}) {
    INFO(NameOf(packing));
    for (const std::string& bytes : {std::string(), std::string("x"), text}) {
      const auto packed = Pack(packing, bytes);
      REQUIRE(packed.ok());
      const auto again = Unpack(packing, *packed, bytes.size());
      REQUIRE(again.ok());
      CHECK(*again == bytes);
      CHECK(absl::IsDataLoss(Unpack(packing, *packed, bytes.size() + 1).status()));
      if (!bytes.empty()) CHECK(absl::IsDataLoss(Unpack(packing, *packed, bytes.size() - 1).status()));
    }
    const auto packed = Pack(packing, text);
    CHECK(absl::IsDataLoss(Unpack(packing, packed->substr(0, packed->size() / 2), text.size()).status()));
    if (packing != ShardPacking::kNone) CHECK(packed->size() < text.size() / 2);
  }
  // The magic numbers of RFC 1952 and RFC 8878.
  CHECK(Pack(ShardPacking::kGzip, text)->substr(0, 2) == "\x1f\x8b");
  CHECK(Pack(ShardPacking::kZstd, text)->substr(0, 4) == "\x28\xb5\x2f\xfd");
  CHECK(absl::IsInvalidArgument(ShardPackingOf("lz4").status()));
}

}  // namespace
}  // namespace waymark
