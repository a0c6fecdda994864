// A disk that is full: writes are refused with a remedy, nothing is lost, and they work again when there is
// room.
#include <atomic>
#include <thread>

#include "store/database_impl.h"
#include "tests/store/fixture.h"
#include "tests/support/small_disk.h"

namespace waymark::tests {
namespace {

Mutation Item(int number) {
  return PutItem{absl::StrCat("i", number), Fields({{"text", Text(std::string(20000, 'y'))}})};
}

// Writes items until one is refused; answers how many were taken.
int WriteUntilFull(Store& store, Scope scope, int from) {
  for (int i = from;; ++i) {
    auto receipt = store.Write(scope, {Item(i)});
    if (receipt.ok()) {
      REQUIRE(i < from + 5000);
      continue;
    }
    CHECK(absl::IsResourceExhausted(receipt.status()));
    const std::string message(receipt.status().message());
    CHECK(message.find(store.data_folder().string()) != std::string::npos);
    CHECK(message.find("free space") != std::string::npos);
    return i - from;
  }
}

void CheckAll(const Store& store, Scope scope, int count) {
  CHECK(store.Counts(scope).items == count);
  CHECK(store.End() == static_cast<LogOffset>(count));
  CHECK(store.ItemEnd(scope) == static_cast<ItemOrdinal>(count));
  for (int i = 0; i < count; ++i) {
    const auto item = store.FindItem(scope, absl::StrCat("i", i));
    REQUIRE(item.has_value());
    REQUIRE(store.GetItem(scope, *item).ok());
  }
  CHECK_FALSE(store.FindItem(scope, absl::StrCat("i", count)).has_value());
}

}  // namespace

TEST_CASE("writes to a full disk are refused, and go on when there is room again") {
  SmallDisk disk("size=100m");
  if (!disk.mounted()) return;
  const std::filesystem::path data = disk.path() / "data";
  Scope scope;
  int count = 0;
  {
    auto store = Store::Open(data, {.cache_bytes = 8 << 20});
    REQUIRE(store.status() == absl::OkStatus());
    scope = *(*store)->CreateCollection({});
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 10; ++i) {
        auto receipt = (*store)->Write(scope, {Item(count++)});
        REQUIRE(receipt.status() == absl::OkStatus());
      }
      disk.Fill();
      count += WriteUntilFull(**store, scope, count);
      CheckAll(**store, scope, count);
      CHECK(absl::IsResourceExhausted((*store)->Write(scope, {Item(count)}).status()));  // still
      CHECK(absl::IsResourceExhausted((*store)->CreateCollection({"default", "more"}).status()));
      CheckAll(**store, scope, count);
      disk.Free();
    }
    REQUIRE((*store)->Write(scope, {Item(count++)}).status() == absl::OkStatus());
  }
  auto store = Store::Open(data, {.cache_bytes = 8 << 20});
  REQUIRE(store.status() == absl::OkStatus());
  CheckAll(**store, scope, count);
}

TEST_CASE("a folder on a full disk says what opening it takes, and opens whole when there is room") {
  SmallDisk disk("size=100m");
  if (!disk.mounted()) return;
  const std::filesystem::path data = disk.path() / "data";
  Scope scope;
  {
    auto store = Store::Open(data, {.cache_bytes = 8 << 20});
    REQUIRE(store.status() == absl::OkStatus());
    scope = *(*store)->CreateCollection({});
    for (int i = 0; i < 20; ++i) REQUIRE((*store)->Write(scope, {Item(i)}).status() == absl::OkStatus());
  }
  disk.Fill();
  const absl::Status full = Store::Open(data, {.cache_bytes = 8 << 20}).status();
  CHECK(absl::IsResourceExhausted(full));
  CHECK_THAT(std::string(full.message()), Catch::Contains("free 64 MB there, then try again"));
  disk.Free();
  auto store = Store::Open(data, {.cache_bytes = 8 << 20});
  REQUIRE(store.status() == absl::OkStatus());
  CheckAll(**store, scope, 20);
}

TEST_CASE("RocksDB meeting a full disk itself takes writes again, and a crash loses none of them") {
  SmallDisk disk("size=100m");
  if (!disk.mounted()) return;
  const std::filesystem::path folder = disk.path() / "store", copy = disk.path() / "copy";
  const DatabaseOptions options = {.cache_bytes = 8 << 20, .disk_reserve_bytes = 0};
  int next = 0;
  std::vector<int> taken, refused;
  const auto key = [](int number) { return absl::StrCat("k", number); };
  const auto check = [&](const Database& database) {
    for (int number : taken) REQUIRE(database.Get(Family::kItems, key(number))->has_value());
    for (int number : refused) REQUIRE_FALSE(database.Get(Family::kItems, key(number))->has_value());
  };
  auto database = Database::Open(folder, options);
  REQUIRE(database.status() == absl::OkStatus());
  const auto write = [&] {
    Batch batch;
    (*database)->Put(batch, Family::kItems, key(next), std::string(20000, 'y'));
    const absl::Status status = (*database)->Write(batch, true);
    (status.ok() ? taken : refused).push_back(next++);
    return status;
  };
  // After an opening all write buffers are empty, and the log file's very first record fails.
  for (bool first_fails : {true, false, true, false}) {
    if (!first_fails) REQUIRE(write().ok());
    disk.Fill();
    for (int i = 0; i < 5000 && write().ok(); ++i) {
    }
    // What it tries at the next write may free its own old logs, and so make room.
    for (int i = 0; i < 3; ++i) {
      const absl::Status status = write();
      CHECK((status.ok() || absl::IsResourceExhausted(status)));
    }
    check(**database);
    disk.Free();
    for (int i = 0; i < 5; ++i) REQUIRE(write() == absl::OkStatus());
    check(**database);
    // The folder as a crash would leave it: copied while it is open.
    std::filesystem::copy(folder, copy, std::filesystem::copy_options::recursive);
    {
      auto crashed = Database::Open(copy, options);
      REQUIRE(crashed.status() == absl::OkStatus());
      check(**crashed);
    }
    std::filesystem::remove_all(copy);
    database->reset();
    database = Database::Open(folder, options);
    REQUIRE(database.status() == absl::OkStatus());
  }
  CHECK(refused.size() >= 4);
}

TEST_CASE("reads go on while a full disk is met and left again; a walk of before is waited for") {
  SmallDisk disk("size=100m");
  if (!disk.mounted()) return;
  auto database = Database::Open(disk.path() / "store", {.cache_bytes = 8 << 20, .disk_reserve_bytes = 0});
  REQUIRE(database.status() == absl::OkStatus());
  const auto write = [&](const std::string& key) {
    Batch batch;
    (*database)->Put(batch, Family::kItems, key, std::string(20000, 'y'));
    return (*database)->Write(batch, true);
  };
  REQUIRE(write("first") == absl::OkStatus());
  std::atomic<bool> done = false;
  std::atomic<int> failures = 0;
  std::thread reader([&] {
    while (!done) {
      const auto value = (*database)->Get(Family::kItems, "first");
      const auto walk = (*database)->Walk(Family::kItems, "f");
      if (!value.ok() || !value->has_value() || !walk->Valid() || walk->key() != "first") ++failures;
    }
  });
  for (int round = 0; round < 2; ++round) {
    disk.Fill();
    for (int i = 0; i < 5000 && write("more").ok(); ++i) {
    }
    CHECK(absl::IsResourceExhausted(write("more")));
    auto before = (*database)->Walk(Family::kItems, "f");
    disk.Free();
    CHECK(absl::IsUnavailable(write("later")));
    REQUIRE(before->Valid());
    CHECK(before->key() == "first");
    before.reset();
    // The reader's own reads are short, but a busy machine may halt it within one.
    absl::Status later = absl::UnavailableError("");
    for (int tries = 0; tries < 60 && absl::IsUnavailable(later); ++tries) later = write("later");
    CHECK(later == absl::OkStatus());
  }
  done = true;
  reader.join();
  CHECK(failures == 0);
}

TEST_CASE("of the log only what was answered is taken up again") {
  TemporaryFolder folder;
  const DatabaseOptions options = {.cache_bytes = 8 << 20};
  const auto put = [](RocksFolder& open, const char* key) {
    REQUIRE(open.db()->Put({}, open.handle(Family::kItems), key, "value").ok());
  };
  const auto has = [](RocksFolder& open, const char* key) {
    std::string value;
    return open.db()->Get({}, open.handle(Family::kItems), key, &value).ok();
  };
  std::shared_ptr<RocksFolder> open;
  REQUIRE(RocksFolder::Open(folder.path(), options, kEverySequence, open).ok());
  put(*open, "a");
  put(*open, "b");
  const uint64_t answered = open->db()->GetLatestSequenceNumber();
  put(*open, "c");
  open.reset();
  REQUIRE(RocksFolder::Open(folder.path(), options, answered, open).ok());
  CHECK(has(*open, "a"));
  CHECK(has(*open, "b"));
  CHECK_FALSE(has(*open, "c"));
  put(*open, "d");
  open.reset();
  REQUIRE(RocksFolder::Open(folder.path(), options, kEverySequence, open).ok());
  CHECK(has(*open, "b"));
  CHECK_FALSE(has(*open, "c"));
  CHECK(has(*open, "d"));
}

}  // namespace waymark::tests
