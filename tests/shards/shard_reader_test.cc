#include "training/shards/shard_reader.h"

#include <fstream>

#include "tests/shards/written_shards.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

std::vector<HistoryExample> SomeHistories() {
  std::vector<HistoryExample> histories;
  for (uint64_t u = 0; u < 20; ++u) {
    HistoryExample example;
    example.user = u;
    for (uint64_t e = 0; e < 3 + u % 4; ++e) {
      example.rows.push_back(static_cast<int64_t>((u * 3 + e) % 10));
      example.times_us.push_back(static_cast<int64_t>(1000 * u + e));
    }
    example.held_out = 1;
    histories.push_back(example);
  }
  return histories;
}

void FlipByte(const std::filesystem::path& file, int64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(at);
  const char byte = static_cast<char>(stream.get() ^ 1);
  stream.seekp(at);
  stream.put(byte);
}

TEST_CASE("Shards hold what was written, whatever they are packed with") {
  for (const ShardPacking packing : {ShardPacking::kNone, ShardPacking::kGzip, ShardPacking::kZstd}) {
    const ShardFolder folder("waymark-shards");
    const auto histories = SomeHistories();
    WriteShards(folder.path(), 3, 10, histories, 1, {.packing = packing});
    const auto index = ReadExamplesIndex(folder.path());
    REQUIRE(index.ok());
    const ShardReader reader(folder.path(), &*index);
    std::vector<uint64_t> users;
    for (int f = 0; f < 3; ++f) {
      REQUIRE(reader
                  .ReadHistories(f,
                                 [&](HistoryExample& example) {
                                   users.push_back(example.user);
                                   CHECK(example.rows == histories[example.user].rows);
                                 })
                  .ok());
    }
    std::sort(users.begin(), users.end());
    CHECK(users.size() == 20);
    CHECK(users[7] == 7);
    CHECK(reader.files_read() == 3);
    const auto items = reader.ReadItems();
    REQUIRE(items.ok());
    CHECK(items->at(9).id == "item9");
  }
}

TEST_CASE("A shard that is missing, cut off, changed, or of another index is refused by name") {
  const ShardFolder folder("waymark-shards");
  WriteShards(folder.path(), 3, 10, SomeHistories(), 1);
  auto index = ReadExamplesIndex(folder.path());
  REQUIRE(index.ok());
  const ShardReader reader(folder.path(), &*index);
  const std::filesystem::path file = folder / "examples-1.tfrecord.zst";
  const auto read = [&] { return reader.ReadHistories(1, [](HistoryExample&) {}); };
  SECTION("missing") {
    std::filesystem::remove(file);
    CHECK(absl::IsNotFound(read()));
    CHECK_THAT(std::string(read().message()), Contains("examples-1.tfrecord.zst is missing"));
  }
  SECTION("cut off") {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    CHECK(absl::IsDataLoss(read()));
    CHECK_THAT(std::string(read().message()),
               Contains("examples-1.tfrecord.zst") && Contains("the index says"));
  }
  SECTION("any changed byte") {
    const auto size = static_cast<int64_t>(std::filesystem::file_size(file));
    for (int64_t at = 0; at < size; at += 7) {
      FlipByte(file, at);
      CHECK(absl::IsDataLoss(read()));
      FlipByte(file, at);
    }
    CHECK(read().ok());
  }
  SECTION("another number of records than the index says") {
    index->mutable_files(1)->set_examples(5);
    CHECK_THAT(std::string(read().message()), Contains("records, the index says 5"));
  }
  SECTION("a row that there is no item for") {
    index->set_item_count(5);
    CHECK_THAT(std::string(read().message()), Contains("record ") && Contains("'items' names row"));
  }
}

TEST_CASE("An index of another format, kind or feature list is refused, and so is a folder without one") {
  const ShardFolder folder("waymark-shards");
  CHECK(absl::IsNotFound(ReadExamplesIndex(folder.path()).status()));
  const auto index = WriteShards(folder.path(), 1, 10, SomeHistories(), 1);
  const auto refused = [&](const storage::ExamplesIndex& other, const std::string& what) {
    REQUIRE(WriteSummedMessage(folder / "index.json", other).ok());
    const absl::Status status = ReadExamplesIndex(folder.path()).status();
    CHECK(absl::IsFailedPrecondition(status));
    CHECK_THAT(std::string(status.message()), Contains(what));
  };
  auto other = index;
  other.set_format(3);
  refused(other, "format 3");
  other = index;
  other.set_kind("lists");
  refused(other, "'lists'");
  other = index;
  other.add_features("price");
  other.set_features_sha256("0");
  refused(other, "price");
}

}  // namespace
}  // namespace waymark
