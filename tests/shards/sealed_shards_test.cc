// Folders of sealed shards, as a training reads them.
#include "tests/shards/written_shards.h"
#include "tests/support/catch.h"
#include "training/shards/shard_reader.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

// User 100 + u saw the items u % 7, u % 7 + 1, u % 7 + 2 at u, u + 1, u + 2 microseconds.
std::vector<HistoryExample> TwelveHistories() {
  std::vector<HistoryExample> histories;
  for (int64_t u = 0; u < 12; ++u) {
    histories.push_back(
        {static_cast<uint64_t>(100 + u), {u % 7, u % 7 + 1, u % 7 + 2}, {u, u + 1, u + 2}, 1});
  }
  return histories;
}

std::vector<uint64_t> TwelveUsers() {
  std::vector<uint64_t> users;
  for (uint64_t u = 100; u < 112; ++u) users.push_back(u);
  return users;
}

struct SealedFolder {
  ShardFolder folder{"waymark-sealed"};
  ShardKeys all{BundleOf(TwelveUsers())};
  storage::ExamplesIndex index = WriteShards(folder.path(), 3, 10, TwelveHistories(), 1, {.keys = &all});
};

// user -> rows.
absl::StatusOr<std::map<uint64_t, std::vector<int64_t>>> ReadAll(const std::filesystem::path& folder,
                                                                 const storage::ExamplesIndex& index,
                                                                 const ShardKeys* keys) {
  const ShardReader reader(folder, &index, keys);
  std::map<uint64_t, std::vector<int64_t>> histories;
  for (int f = 0; f < index.files_size(); ++f) {
    absl::Status read =
        reader.ReadHistories(f, [&](HistoryExample& example) { histories[example.user] = example.rows; });
    if (!read.ok()) return read;
  }
  return histories;
}

TEST_CASE("sealed shards read as the histories that were written, and hold nothing to be read without keys") {
  const SealedFolder w;
  const auto index = ReadExamplesIndex(w.folder.path());
  REQUIRE(index.ok());
  CHECK(index->format() == 2);
  CHECK(index->sealing().method() == "aes-256-gcm");
  const auto read = ReadAll(w.folder.path(), *index, &w.all);
  REQUIRE(read.ok());
  REQUIRE(read->size() == 12);
  CHECK(read->at(108) == std::vector<int64_t>{1, 2, 3});
  const auto without = ReadAll(w.folder.path(), *index, nullptr);
  CHECK(absl::IsFailedPrecondition(without.status()));
  CHECK_THAT(std::string(without.status().message()), Contains("sealed") && Contains("waymark export keys"));
  // Items are nobody's, and not sealed.
  CHECK(ShardReader(w.folder.path(), &*index).ReadItems()->at(9).id == "item9");
}

TEST_CASE("records of erased users are passed over, and each file's count says how many") {
  const SealedFolder w;
  storage::KeyBundle bundle = BundleOf(TwelveUsers(), {100, 103, 107});
  // 100 and 103 in the first file, 107 in the second.
  for (const auto& [file, erased] : {std::pair{0, 2}, {1, 1}}) {
    auto* told = bundle.add_files();
    told->set_name(w.index.files(file).name());
    told->set_erased(erased);
  }
  const ShardKeys keys(bundle);
  storage::ExamplesIndex index = w.index;
  CHECK(keys.TakeErased(index.mutable_files()) == 3);
  CHECK(index.files(0).examples() == 2);
  CHECK(index.files(1).examples() == 3);
  CHECK(index.files(2).examples() == 4);
  const auto read = ReadAll(w.folder.path(), index, &keys);
  REQUIRE(read.ok());
  CHECK(read->size() == 9);
  for (uint64_t user : {100, 103, 107}) CHECK(read->count(user) == 0);
  // A bundle that counts otherwise than the shards is not believed.
  index.mutable_files(0)->set_examples(3);
  index.mutable_files(0)->set_erased(1);
  const auto other = ReadAll(w.folder.path(), index, &keys);
  CHECK_THAT(std::string(other.status().message()),
             Contains("examples-0.tfrecord.zst has 2 records of erased users, the key bundle says 1"));
}

TEST_CASE("a payload that was changed is found though every checksum and hash around it fits") {
  const SealedFolder w;
  // The file is written again with one bit of user 104's payload changed, and so is the index.
  const auto raw = Unpack(ShardPacking::kZstd, *ReadWholeFile(w.folder / w.index.files(1).name(), 1 << 20),
                          static_cast<uint64_t>(w.index.files(1).raw_bytes()));
  REQUIRE(raw.ok());
  RecordFrames frames(*raw);
  std::string_view payload;
  std::string changed;
  while (frames.Next(&payload)) {
    std::string record(payload);
    SealedRecord sealed;
    REQUIRE(ParseSealedRecord(record, &sealed).ok());
    if (sealed.user == 104) {
      const size_t at = record.find(sealed.sealed);
      REQUIRE(at != std::string::npos);
      record[at + 20] = static_cast<char>(record[at + 20] ^ 1);
    }
    AppendRecord(record, &changed);
  }
  storage::ExamplesIndex index = w.index;
  *index.mutable_files(1) =
      WriteShardFile(w.folder.path(), w.index.files(1).name(), ShardPacking::kZstd, changed, 4);
  const auto read = ReadAll(w.folder.path(), index, &w.all);
  CHECK(absl::IsDataLoss(read.status()));
  CHECK_THAT(std::string(read.status().message()), Contains("examples-1.tfrecord.zst: record 1:") &&
                                                       Contains("user 104") && Contains("was changed"));
}

TEST_CASE("a user whom the bundle does not know is named, not passed over") {
  const SealedFolder w;
  std::vector<uint64_t> users = TwelveUsers();
  users.pop_back();
  const ShardKeys keys(BundleOf(users));
  const auto read = ReadAll(w.folder.path(), w.index, &keys);
  CHECK_THAT(std::string(read.status().message()),
             Contains("examples-2.tfrecord.zst: record 3: is of user 111, whom"));
}

TEST_CASE("an index whose seal is of another method is refused by its name") {
  const SealedFolder w;
  storage::ExamplesIndex other = w.index;
  other.mutable_sealing()->set_method("rot13");
  REQUIRE(WriteSummedMessage(w.folder / "index.json", other).ok());
  CHECK_THAT(std::string(ReadExamplesIndex(w.folder.path()).status().message()), Contains("'rot13'"));
  other = w.index;
  other.set_format(1);
  REQUIRE(WriteSummedMessage(w.folder / "index.json", other).ok());
  CHECK(absl::IsDataLoss(ReadExamplesIndex(w.folder.path()).status()));
}

}  // namespace
}  // namespace waymark
