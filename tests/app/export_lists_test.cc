#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "rank/feature_table.h"
#include "store/store.h"
#include "tests/app/program.h"
#include "training/shards/list_reader.h"
#include "training/shards/lists_index.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

constexpr int kUsers = 150, kEvents = 12, kItems = 40;
constexpr int64_t kStart = 1000000000;  // seconds

// The e-th event of user u: nobody comes back to an item, and everybody's e-th events lie together.
int ItemAt(int u, int e) { return (u + e * (1 + u % 3)) % kItems; }
int64_t TimeAt(int u, int e) { return kStart + 1000 * e + u; }

std::string ChainViews() {
  std::string rows;
  for (int u = 0; u < kUsers; ++u) {
    for (int e = 0; e < kEvents; ++e) {
      absl::StrAppend(&rows, R"({"type":"view","user_id":"u)", u, R"(","item_id":"i)", ItemAt(u, e),
                      R"(","time":)", TimeAt(u, e), "}\n");
    }
  }
  return rows;
}

// A data folder `d` with events and a retriever.
struct Trained : Sandbox {
  Trained() {
    Write("events.jsonl", ChainViews());
    std::string items = R"({"id":"i3","title":"Star Wars","genres":["Sci-Fi"]})"
                        "\n";
    for (int i = 0; i < kItems; ++i) {
      if (i != 3) absl::StrAppend(&items, R"({"id":"i)", i, "\"}\n");
    }
    Write("items.jsonl", items);
    REQUIRE(Run({"import", "items", "items.jsonl", "--data", "d"}).code == 0);
    REQUIRE(Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
    REQUIRE(Run({"train", "retriever", "--data", "d", "--version", "r1"}).code == 0);
  }
  // A key bundle for the lists in `folder`, read again.
  ShardKeys Keys(const std::string& folder, const storage::ListsIndex& index) const {
    REQUIRE(Run({"export", "keys", folder, folder + ".keys", "--data", "d"}).code == 0);
    auto keys = ShardKeys::Read(Path(folder + ".keys"), {folder, ListsFingerprint(index), absl::Now()});
    REQUIRE(keys.ok());
    return *std::move(keys);
  }
  storage::ListsIndex Index(const std::string& folder) const {
    const FeatureTable& table = FeatureTable::Current();
    auto index = ReadListsIndex(Path(folder), {table.Names(), table.sha256()});
    INFO(index.status().ToString());
    REQUIRE(index.ok());
    return *std::move(index);
  }
};

TEST_CASE("exported lists are past decisions: what was known, what was found, and what was taken") {
  const Trained box;
  const auto printed = box.Json({"export", "lists", "s", "--data", "d", "--files", "5"});
  CHECK(printed["kind"] == "lists");
  const storage::ListsIndex index = box.Index("s");
  CHECK(index.retriever_version() == "r1");
  const auto retriever = box.Json({"model", "list", "--data", "d"});
  CHECK_THAT(retriever.dump(), Contains(index.retriever_sha256()));
  CHECK(index.signals_retriever_sha256() != index.retriever_sha256());
  CHECK(index.log_events() == kUsers * kEvents);
  CHECK(index.log_users() == kUsers);
  // Of 1,800 events the newest 15% teach or validate.
  // The newest 5% validate.
  CHECK(index.lists() + index.without_target() == 180);
  CHECK(index.lists() > 100);
  CHECK(index.validation_lists() > 50);
  CHECK(index.validation_lists() <= 90);
  CHECK(index.sealing().method() == "aes-256-gcm");
  const ShardKeys keys = box.Keys("s", index);
  const ListReader reader(box.Path("s"), &index, &keys);
  const auto items = reader.ReadItems();
  REQUIRE(items.ok());
  std::map<ItemOrdinal, std::string> ids;
  for (const auto& item : *items) {
    ids[item.item] = item.id;
    CHECK(item.content.empty() == (item.id != "i3"));
  }
  std::set<std::pair<int, int>> decisions;
  std::map<ItemOrdinal, int64_t> counts;
  std::map<uint64_t, std::set<int>> files_of_user;
  for (int f = 0; f < 10; ++f) {
    const bool trained = f < 5;
    const auto visit = [&](const RankingList& list) {
      const int64_t after = list.time_us / 1000000 - kStart;
      const int u = static_cast<int>(after % 1000), e = static_cast<int>(after / 1000);
      CHECK(decisions.emplace(u, e).second);
      files_of_user[list.user].insert(f % 5);
      int taken = 0;
      for (size_t c = 0; c < list.candidates.size(); ++c) {
        if (list.gains[c] == 0) continue;
        ++taken;
        CHECK(ids.at(list.candidates[c]) == absl::StrCat("i", ItemAt(u, e)));
      }
      CHECK(taken == 1);
      CHECK(list.history.size() == static_cast<size_t>(e));  // below the limit of 20
      for (int h = 0; h < e; ++h) CHECK(ids.at(list.history[h]) == absl::StrCat("i", ItemAt(u, e - 1 - h)));
      for (EventTypeCode type : list.types) CHECK(type == event_code::kView);
      if (trained) {
        for (ItemOrdinal item : list.history) ++counts[item];
        for (size_t c = 0; c < list.candidates.size(); ++c) counts[list.candidates[c]] += list.gains[c] > 0;
      }
      return absl::OkStatus();
    };
    REQUIRE(reader.ReadLists(trained ? index.files(f) : index.validation(f - 5), visit).ok());
  }
  CHECK(static_cast<int64_t>(decisions.size()) == index.lists() + index.validation_lists());
  for (const auto& item : *items) CHECK(item.count == counts[item.item]);
  for (const auto& [user, files] : files_of_user) CHECK(files.size() == 1);
  // What an export works with is gone.
  for (const auto& entry : std::filesystem::directory_iterator(box.Path("s"))) {
    const std::string name = entry.path().filename().string();
    CHECK((name == "index.json" || name == "index.json.sha256" || entry.path().extension() == ".zst"));
  }

  // The same lists on another number of threads, and as many as `waymark train ranker` makes in memory.
  REQUIRE(box.Run({"export", "lists", "t", "--data", "d", "--files", "5", "--threads", "1"}).code == 0);
  const storage::ListsIndex one = box.Index("t");
  for (int f = 0; f < 5; ++f) {
    CHECK(one.files(f).sha256() == index.files(f).sha256());
    CHECK(one.validation(f).sha256() == index.validation(f).sha256());
  }
  CHECK(one.items().sha256() == index.items().sha256());
  const Ran ranker = box.Run({"train", "ranker", "--data", "d", "--version", "central"});
  REQUIRE(ranker.code == 0);
  CHECK_THAT(ranker.out, Contains(absl::StrCat("training_lists ", index.lists(), ",")));
  CHECK_THAT(ranker.out, Contains(absl::StrCat("validation_lists ", index.validation_lists())));
  CHECK_THAT(ranker.out, Contains(absl::StrCat("lists_without_target ", index.without_target(), ",")));

  const Ran again = box.Run({"export", "lists", "t", "--data", "d"});
  CHECK(again.code == 1);
  CHECK_THAT(again.err, Contains("holds training shards already"));
}

TEST_CASE("an export of lists that was stopped goes on, keeps what is whole, and says the same") {
  const Trained box;
  const std::vector<std::string> command = {"export", "lists", "stopped", "--data", "d", "--files", "3"};
  // It ends when it comes to the items, and leaves what a stop leaves.
  const std::filesystem::path in_the_way = box.Path("stopped") / "items.tfrecord.zst.new";
  std::filesystem::create_directories(in_the_way);
  REQUIRE(box.Run(command).code == 1);
  std::filesystem::remove(in_the_way);
  REQUIRE(std::filesystem::exists(box.Path("stopped") / "export.json"));
  std::filesystem::remove(box.Path("stopped") / "lists-00001-of-00003.tfrecord.zst.json");
  box.Write("stopped/validation-00002-of-00003.tfrecord.zst", "damaged");
  // What came meanwhile is not part of it.
  box.Write("more.jsonl", R"({"type":"view","user_id":"u1","item_id":"new","time":1200000000})");
  REQUIRE(box.Run({"import", "events", "more.jsonl", "--data", "d"}).code == 0);
  CHECK_THAT(std::string(KindOfShards(box.Path("stopped")).status().message()), Contains("was stopped"));
  for (const auto& [option, value, said] : {std::tuple{"--files", "4", "--files 3, asked now is 4"},
                                            {"--seed", "2", "--seed 1, asked now is 2"},
                                            {"--max-lists", "50", "--max-lists 20000, asked now is 50"}}) {
    std::vector<std::string> other = {"export", "lists", "stopped", "--data", "d", option, value};
    if (option != std::string("--files")) other.insert(other.end(), {"--files", "3"});
    const Ran ran = box.Run(other);
    CHECK(ran.code == 1);
    CHECK_THAT(ran.err, Contains(said));
  }
  const Ran on = box.Run(command);
  INFO(on.err);
  REQUIRE(on.code == 0);
  CHECK_THAT(on.err, Contains("(4 files were there already)"));
  CHECK_FALSE(std::filesystem::exists(box.Path("stopped/work")));
  const storage::ListsIndex index = box.Index("stopped");
  CHECK(index.log_events() == kUsers * kEvents);
  CHECK(index.lists() + index.without_target() == 180);
}

TEST_CASE("an export of lists that goes on after a user was erased makes all of its files again") {
  const Trained box;
  const std::vector<std::string> command = {"export", "lists", "stopped", "--data", "d", "--files", "3"};
  const std::filesystem::path in_the_way = box.Path("stopped") / "items.tfrecord.zst.new";
  std::filesystem::create_directories(in_the_way);
  REQUIRE(box.Run(command).code == 1);
  std::filesystem::remove(in_the_way);
  {
    auto store = Store::Open(box.Path("d"), {});
    REQUIRE(store.ok());
    const auto scope = (*store)->FindCollection({});
    REQUIRE(scope.ok());
    REQUIRE((*store)->Write(*scope, {DeleteUser{"u0"}}).ok());
  }
  const Ran on = box.Run(command);
  CHECK(on.code == 0);
  CHECK_THAT(on.err, Contains("wrote ") && !Contains("there already"));
  const storage::ListsIndex index = box.Index("stopped");
  CHECK(index.log_users() == kUsers - 1);
  CHECK(box.Keys("stopped", index).erased_users() == 0);
}

TEST_CASE("lists without a retriever, or of one that is not there, are refused with what to do") {
  const Sandbox box;
  box.Write("events.jsonl", ChainViews());
  REQUIRE(box.Run({"import", "events", "events.jsonl", "--data", "d"}).code == 0);
  const Ran none = box.Run({"export", "lists", "s", "--data", "d"});
  CHECK(none.code == 1);
  CHECK_THAT(none.err, Contains("a ranker belongs to a retriever, and there is none yet"));
  const Ran other = box.Run({"export", "lists", "s", "--data", "d", "--retriever", "r5"});
  CHECK(other.code == 1);
  CHECK_THAT(other.err, Contains("r5"));
  CHECK_FALSE(std::filesystem::exists(box.Path("s")));
  CHECK(box.Run({"export", "lists", "s", "--data", "d", "--arm", "nonsense"}).code == 2);
}

TEST_CASE("lists are trained on by 2 ranks, and the ranker serves as one of `waymark train` does") {
  const Trained box;
  REQUIRE(box.Run({"export", "lists", "s", "--data", "d", "--files", "4"}).code == 0);
  const storage::ListsIndex index = box.Index("s");
  {  // Two of those who taught are erased before the training.
    auto store = Store::Open(box.Path("d"), {});
    REQUIRE(store.ok());
    const auto scope = (*store)->FindCollection({});
    REQUIRE(scope.ok());
    REQUIRE((*store)->Write(*scope, {DeleteUser{"u100"}, DeleteUser{"u149"}}).ok());
  }
  const int64_t erased = box.Keys("s", index).erased_users();
  CHECK(erased >= 1);
  const std::string train =
      absl::StrCat("OMP_NUM_THREADS=1 ", WAYMARK_TRAIN_PROGRAM, " --shards ", box.Path("s").string(),
                   " --keys ", box.Path("s.keys").string(), " --package ", box.Path("p").string(),
                   " --version far --processes 2 >", box.Path("train.log").string(), " 2>&1");
  const int code = std::system(train.c_str());
  INFO(box.Read("train.log"));
  REQUIRE(code == 0);
  CHECK_THAT(box.Read("train.log"), Contains(absl::StrCat("erased since: ", erased, " users")));
  REQUIRE(box.Run({"model", "import", "p", "--data", "d"}).code == 0);
  const auto release = box.Json({"release", "create", "--retriever", "r1", "--ranker", "far", "--data", "d"});
  REQUIRE(box.Run({"release", "activate", release["id"].get<std::string>(), "--data", "d"}).code == 0);
  const auto answer = box.Json({"recommend", "--user", "u7", "--data", "d"});
  CHECK(answer["results"].size() > 5);
  CHECK_THAT(box.Run({"release", "list", "--data", "d"}).out, Contains("far"));
  // Beside another retriever it is refused.
  REQUIRE(box.Run({"train", "retriever", "--data", "d", "--version", "r2", "--seed", "2"}).code == 0);
  const Ran other = box.Run({"release", "create", "--retriever", "r2", "--ranker", "far", "--data", "d"});
  CHECK(other.code == 1);
}

}  // namespace
}  // namespace waymark
