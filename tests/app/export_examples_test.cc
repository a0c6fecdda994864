#include <set>

#include "absl/strings/str_cat.h"
#include "store/store.h"
#include "tests/app/program.h"
#include "training/shards/examples_index.h"
#include "training/shards/shard_reader.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

// User u views items u, u + 1, ... , u + 3 + u % 2, a second apart; one item has content.
std::string Views(int users) {
  std::string rows;
  for (int u = 0; u < users; ++u) {
    for (int e = 0; e < 4 + u % 2; ++e) {
      absl::StrAppend(&rows, R"({"type":"view","user_id":"u)", u, R"(","item_id":"i)", u + e, R"(","time":)",
                      1000000000 + 100 * u + e, "}\n");
    }
  }
  return rows;
}

// A fresh key bundle for the shards in `folder`.
ShardKeys KeysFor(const Sandbox& box, const std::string& folder, const storage::ExamplesIndex& index) {
  const std::string file = folder + ".keys";
  const Ran ran = box.Run({"export", "keys", folder, file, "--data", "d"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  auto keys = ShardKeys::Read(box.Path(file), {folder, ExamplesFingerprint(index), absl::Now()});
  INFO(keys.status().ToString());
  REQUIRE(keys.ok());
  return *std::move(keys);
}

// user -> rows, of all files.
std::map<uint64_t, HistoryExample> HistoriesIn(const Sandbox& box, const std::string& folder,
                                               storage::ExamplesIndex index) {
  std::map<uint64_t, HistoryExample> histories;
  const ShardKeys keys = KeysFor(box, folder, index);
  keys.TakeErased(index.mutable_files());
  const ShardReader reader(box.Path(folder), &index, &keys);
  for (int f = 0; f < index.files_size(); ++f) {
    REQUIRE(reader
                .ReadHistories(f,
                               [&](HistoryExample& example) {
                                 CHECK(histories.try_emplace(example.user, example).second);
                               })
                .ok());
  }
  return histories;
}

TEST_CASE("exported shards hold every history, packed or not, in the rows of their items") {
  const Sandbox box;
  box.Write("events.jsonl", Views(30));
  box.Write("items.jsonl", R"({"id":"i3","title":"Star Wars","genres":["Sci-Fi"]})");
  REQUIRE(box.Run({"import", "items", "items.jsonl", "--data", "d"}).code == 0);
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  std::map<uint64_t, HistoryExample> first;
  for (const std::string how : {"none", "gzip", "zstd"}) {
    const auto printed =
        box.Json({"export", "examples", how, "--data", "d", "--files", "4", "--compress", how});
    CHECK(printed["files"].size() == 4);
    const auto index = ReadExamplesIndex(box.Path(how));
    REQUIRE(index.ok());
    CHECK(index->examples() == 30);
    // 15 users of 4 events and 15 of 5, the newest of each held out.
    CHECK(index->events() == 15 * 3 + 15 * 4);
    CHECK(index->targets() == 15 * 2 + 15 * 3);
    // Items 0 to 32 are trained on; item 33 (the last of user 29) is held out alone.
    CHECK(index->item_count() == 33);
    CHECK(index->first_time() == "2001-09-09T01:46:40+00:00");
    CHECK(index->last_time() == "2001-09-09T02:35:03+00:00");  // user 29, fourth event: 2,903 s later
    const ShardReader reader(box.Path(how), &*index);
    const auto items = reader.ReadItems();
    REQUIRE(items.ok());
    const auto histories = HistoriesIn(box, how, *index);
    CHECK(histories.size() == 30);
    for (const auto& [user, example] : histories) {
      CHECK(example.held_out == 1);
      const int64_t u = (example.times_us[0] / 1000000 - 1000000000) / 100;
      REQUIRE(example.rows.size() == static_cast<size_t>(4 + u % 2));
      for (size_t e = 0; e < example.rows.size(); ++e) {
        if (u + static_cast<int64_t>(e) == 33) {
          CHECK(example.rows[e] == -1);
        } else {
          CHECK(items->at(example.rows[e]).id == absl::StrCat("i", u + e));
        }
      }
    }
    for (const ItemRecord& item : *items) CHECK(item.content.empty() == (item.id != "i3"));
    if (first.empty()) first = histories;
    CHECK(first.size() == histories.size());
    // What an export works with is gone.
    for (const auto& entry : std::filesystem::directory_iterator(box.Path(how))) {
      const std::string name = entry.path().filename().string();
      CHECK((name == "index.json" || name == "index.json.sha256" ||
             name.find(".tfrecord") != std::string::npos));
      CHECK(name.find(".tfrecord.json") == std::string::npos);
    }
  }
  const Ran again = box.Run({"export", "examples", "zstd", "--data", "d"});
  CHECK(again.code == 1);
  CHECK_THAT(again.err, Contains("holds training shards already"));
}

TEST_CASE("the newest events can be left out, and then nobody sees them") {
  const Sandbox box;
  box.Write("events.jsonl", Views(30));
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  REQUIRE(box.Run({"export", "examples", "s", "--data", "d", "--files", "2", "--leave-out", "1"}).code == 0);
  const auto index = ReadExamplesIndex(box.Path("s"));
  REQUIRE(index.ok());
  CHECK(index->events() == 15 * 2 + 15 * 3);
  for (const auto& [user, example] : HistoriesIn(box, "s", *index)) {
    const int64_t u = (example.times_us[0] / 1000000 - 1000000000) / 100;
    CHECK(example.rows.size() == static_cast<size_t>(3 + u % 2));
  }
}

// An export of four files that ends when it comes to the items, and leaves what a stop leaves.
void StopBeforeItems(const Sandbox& box, const std::string& folder) {
  const std::filesystem::path in_the_way = box.Path(folder) / "items.tfrecord.zst.new";
  std::filesystem::create_directories(in_the_way);
  REQUIRE(box.Run({"export", "examples", folder, "--data", "d", "--files", "4", "--threads", "1"}).code == 1);
  std::filesystem::remove(in_the_way);
  REQUIRE(std::filesystem::exists(box.Path(folder) / "export.json"));
}

TEST_CASE("an export that was stopped goes on with the same part of the log, and keeps what is whole") {
  const Sandbox box;
  box.Write("events.jsonl", Views(30));
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  REQUIRE(box.Run({"export", "examples", "whole", "--data", "d", "--files", "4"}).code == 0);
  const auto whole = ReadExamplesIndex(box.Path("whole"));
  REQUIRE(whole.ok());
  StopBeforeItems(box, "stopped");
  for (int f : {2, 3}) {
    std::filesystem::remove(box.Path("stopped") / whole->files(f).name());
    std::filesystem::remove(box.Path("stopped") / (whole->files(f).name() + ".json"));
  }
  box.Write("stopped/" + whole->files(1).name(), "damaged");
  // What came meanwhile is not part of it.
  box.Write("more.jsonl", R"({"type":"view","user_id":"u1","item_id":"new","time":1200000000})");
  REQUIRE(box.Run({"import", "events", "more.jsonl", "--data", "d"}).code == 0);
  CHECK_THAT(std::string(ReadExamplesIndex(box.Path("stopped")).status().message()), Contains("was stopped"));

  const Ran other = box.Run({"export", "examples", "stopped", "--data", "d", "--files", "5"});
  CHECK(other.code == 1);
  CHECK_THAT(other.err, Contains("--files 4, asked now is 5"));
  const Ran on = box.Run({"export", "examples", "stopped", "--data", "d", "--files", "4"});
  CHECK(on.code == 0);
  CHECK_THAT(on.err, Contains("1 of them were there already"));
  const auto index = ReadExamplesIndex(box.Path("stopped"));
  REQUIRE(index.ok());
  for (int f = 0; f < 4; ++f) CHECK(index->files(f).sha256() == whole->files(f).sha256());
  CHECK(ExamplesFingerprint(*index) == ExamplesFingerprint(*whole));
}

TEST_CASE("an export that goes on after a user was erased writes all of its files again, without that user") {
  const Sandbox box;
  box.Write("events.jsonl", Views(30));
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  StopBeforeItems(box, "stopped");
  {
    auto store = Store::Open(box.Path("d"), {});
    REQUIRE(store.ok());
    const auto scope = (*store)->FindCollection({});
    REQUIRE(scope.ok());
    // The only one who saw item i0, the first of the rows.
    REQUIRE((*store)->Write(*scope, {DeleteUser{"u0"}}).ok());
  }
  const Ran on = box.Run({"export", "examples", "stopped", "--data", "d", "--files", "4"});
  CHECK(on.code == 0);
  CHECK_THAT(on.err, Contains("wrote 29 histories") && !Contains("there already"));
  REQUIRE(box.Run({"export", "examples", "fresh", "--data", "d", "--files", "4"}).code == 0);
  const auto index = ReadExamplesIndex(box.Path("stopped")), fresh = ReadExamplesIndex(box.Path("fresh"));
  REQUIRE(index.ok());
  REQUIRE(fresh.ok());
  CHECK(ExamplesFingerprint(*index) == ExamplesFingerprint(*fresh));
}

TEST_CASE("what was exported of a user cannot be read any more once the user is erased") {
  const Sandbox box;
  box.Write("events.jsonl", Views(30));
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  REQUIRE(box.Run({"export", "examples", "s", "--data", "d", "--files", "4"}).code == 0);
  const auto index = ReadExamplesIndex(box.Path("s"));
  REQUIRE(index.ok());
  const auto before = HistoriesIn(box, "s", *index);
  REQUIRE(before.size() == 30);
  UserNumber erased = 0;
  {
    auto store = Store::Open(box.Path("d"), {});
    REQUIRE(store.ok());
    const auto scope = (*store)->FindCollection({});
    REQUIRE(scope.ok());
    erased = *(*store)->FindUser(*scope, "u7");
    REQUIRE((*store)->Write(*scope, {DeleteUser{"u7"}}).ok());
  }
  const auto told = box.Json({"export", "keys", "s", "new.keys", "--hours", "2", "--data", "d"});
  CHECK(told["users"] == 29);
  CHECK(told["erased_users"] == 1);
  CHECK(told["erased_records"] == 1);
  const auto after = HistoriesIn(box, "s", *index);
  CHECK(after.size() == 29);
  CHECK(after.count(erased) == 0);
  // The new bundle holds no key that opens the record, nor one of that user under any number.
  const auto was = ShardKeys::Read(box.Path("s.keys"), {"s", ExamplesFingerprint(*index), absl::Now()});
  REQUIRE(was.ok());
  CHECK(was->Find(erased)->empty());
  CHECK(std::filesystem::status(box.Path("new.keys")).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("keys are made for sealed shards of this data alone") {
  const Sandbox box;
  box.Write("events.jsonl", Views(30));
  box.Write("reversed.jsonl", [] {
    std::string rows;
    for (int u = 29; u >= 0; --u) {
      for (int e = 0; e < 3; ++e) {
        absl::StrAppend(&rows, R"({"type":"view","user_id":"w)", u, R"(","item_id":"i)", e, R"(","time":)",
                        1000000000 + 100 * u + e, "}\n");
      }
    }
    return rows;
  }());
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  REQUIRE(box.Run({"import", "events", "reversed.jsonl", "--data", "d", "--collection", "other"}).code == 0);
  box.Write("item.jsonl", R"({"id":"i0"})");
  REQUIRE(box.Run({"import", "items", "item.jsonl", "--data", "d", "--collection", "nobody"}).code == 0);
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "elsewhere"}).code == 0);
  REQUIRE(box.Run({"export", "examples", "plain", "--plain", "--data", "d"}).code == 0);
  REQUIRE(box.Run({"export", "examples", "s", "--data", "d"}).code == 0);
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& what) {
    std::vector<std::string> command = {"export", "keys"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Ran ran = box.Run(command);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.err, Contains(what));
    CHECK_FALSE(std::filesystem::exists(box.Path("k")));
  };
  refused({"plain", "k", "--data", "d"}, "is not sealed");
  refused({"nothing", "k", "--data", "d"}, "holds no training shards");
  refused({"s", "k", "--data", "elsewhere"}, "exported from another data folder");
  // Also where nobody has a number that the shards name: all would be taken for erased.
  for (const char* collection : {"other", "nobody"}) {
    refused({"s", "k", "--data", "d", "--collection", collection}, "exported from another collection");
  }
  // Plain shards hold the histories as they are, sealed ones do not.
  const auto plain = ReadExamplesIndex(box.Path("plain"));
  REQUIRE(plain.ok());
  CHECK(plain->format() == 1);
  int histories = 0;
  const ShardReader reader(box.Path("plain"), &*plain);
  for (int f = 0; f < plain->files_size(); ++f) {
    REQUIRE(reader
                .ReadHistories(f,
                               [&](HistoryExample& example) {
                                 CHECK(example.rows.size() >= 4);
                                 ++histories;
                               })
                .ok());
  }
  CHECK(histories == 30);
}

TEST_CASE("too little to train on is said with the counts") {
  const Sandbox box;
  box.Write("events.jsonl", R"({"type":"view","user_id":"u1","item_id":"i1","time":1200000000})");
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  const Ran ran = box.Run({"export", "examples", "s", "--data", "d"});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.err, Contains("too little to train a retriever on: 1 users"));
  CHECK(box.Run({"export", "examples", "s", "--data", "d", "--compress", "lz4"}).code == 2);
}

}  // namespace
}  // namespace waymark
