#include <rocksdb/db.h>
#include <sys/wait.h>

#include <fstream>
#include <random>

#include "store/damaged_log.h"
#include "store/server_file.h"
#include "tests/store/fixture.h"

namespace waymark::tests {

TEST_CASE("a folder that does not exist is made only when that is asked for") {
  TemporaryFolder folder;
  CHECK(absl::IsNotFound(Store::Open(folder.path() / "x", {.create = false}).status()));
  CHECK(absl::IsNotFound(Store::Open(folder.path() / "x", {.read_only = true}).status()));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "x"));
  CHECK(Store::Open(folder.path() / "x" / "y", {}).ok());
  CHECK(Store::Open(folder.path() / "x" / "y", {.create = false}).ok());
}

TEST_CASE("epoch, signing key, counters and log are the same after a restart") {
  StoreFixture f;
  f.Write({PutItem{"a", {}}, Event("u1", "b"), PutUser{"u2", {}}});
  const uint64_t epoch = f.store_->epoch();
  const std::string key = f.store_->signing_key();
  CHECK(epoch != 0);
  CHECK(key.size() == 32);
  f.Reopen();
  CHECK(f.store_->epoch() == epoch);
  CHECK(f.store_->signing_key() == key);
  CHECK(f.store_->End() == 3);
  const StoreCounts counts = f.store_->Counts(f.scope_);
  CHECK(counts.items == 1);
  CHECK(counts.users == 2);
  CHECK(counts.events == 1);
  CHECK(f.store_->ItemEnd(f.scope_) == 2);
  StoreFixture other;
  CHECK(other.store_->epoch() != epoch);
  CHECK(other.store_->signing_key() != key);
}

TEST_CASE("a read-only store reads and refuses to write") {
  StoreFixture f;
  f.Write({PutItem{"a", {}}});
  f.Close();
  auto store = Store::Open(f.data(), {.read_only = true});
  REQUIRE(store.status() == absl::OkStatus());
  CHECK((*store)->FindCollection({}).value() == f.scope_);
  CHECK((*store)->CreateCollection({}).value() == f.scope_);  // finds it
  CHECK((*store)->GetItem(f.scope_, 0)->id() == "a");
  CHECK(absl::IsFailedPrecondition((*store)->Write(f.scope_, {PutItem{"b", {}}}).status()));
  CHECK(absl::IsFailedPrecondition((*store)->CreateCollection({"default", "b"}).status()));
  CHECK(absl::IsFailedPrecondition((*store)->PutAlias("default", "x", "default")));
  CHECK(absl::IsFailedPrecondition((*store)->PutModel(f.scope_, {})));
  CHECK(absl::IsFailedPrecondition((*store)->CreateCheckpoint().status()));
  CHECK(absl::IsFailedPrecondition((*store)->Flush()));
}

TEST_CASE("a second opener is told that the folder is open, and by which server") {
  StoreFixture f;
  const auto try_elsewhere = [&] {
    // Another process: RocksDB's lock is the process's own.
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      const std::string text = Store::Open(f.data(), {}).status().ToString();
      const bool written = write(pipe_ends[1], text.data(), text.size()) > 0;
      _exit(written ? 0 : 1);
    }
    close(pipe_ends[1]);
    std::string text(2000, '\0');
    const ssize_t count = read(pipe_ends[0], text.data(), text.size());
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    close(pipe_ends[0]);
    waitpid(child, nullptr, 0);
    return text;
  };
  const std::string plain = try_elsewhere();
  CHECK(plain.find("FAILED_PRECONDITION") == 0);
  CHECK(plain.find("another process") != std::string::npos);
  auto file = ServerFile::Write(f.data(), {.grpc_address = "127.0.0.1:7700"}, &f.clock_);
  REQUIRE(file.ok());
  const std::string named = try_elsewhere();
  CHECK(named.find("FAILED_PRECONDITION") == 0);
  CHECK(named.find(absl::StrCat("pid ", getpid())) != std::string::npos);
  CHECK(named.find("127.0.0.1:7700") != std::string::npos);
  // In this process too.
  CHECK(absl::IsFailedPrecondition(Store::Open(f.data(), {}).status()));
}

TEST_CASE("a newer format is refused, and both numbers are named") {
  StoreFixture f;
  f.Close();
  {
    std::vector<std::string> names;
    const std::string path = (f.data() / "store").string();
    REQUIRE(rocksdb::DB::ListColumnFamilies({}, path, &names).ok());
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    REQUIRE(rocksdb::DB::Open({}, path, families, &handles, &db).ok());
    REQUIRE(db->Put({}, "!format", std::string("\0\0\0\x09", 4)).ok());
    rocksdb::ColumnFamilyHandle* fresh = nullptr;
    REQUIRE(db->CreateColumnFamily({}, "something_new", &fresh).ok());
    handles.push_back(fresh);
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    delete db;
  }
  for (bool read_only : {false, true}) {
    const absl::Status status = Store::Open(f.data(), {.read_only = read_only}).status();
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(std::string(status.message()).find("format 9") != std::string::npos);
    CHECK(std::string(status.message()).find("up to 2") != std::string::npos);
  }
}

TEST_CASE("damage is told as data loss") {
  StoreFixture f;
  f.Write({PutItem{"a", {}}});
  REQUIRE(f.store_->Flush().ok());
  f.Close();
  for (const auto& entry : std::filesystem::directory_iterator(f.data() / "store")) {
    if (entry.path().filename().string().find("MANIFEST") != 0) continue;
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) / 2);
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10);
    file.write("XXXXXXXX", 8);
  }
  CHECK(absl::IsDataLoss(Store::Open(f.data(), {}).status()));
}

namespace {

// The store's log with the most in it.
std::filesystem::path LargestLog(const std::filesystem::path& data) {
  std::filesystem::path largest;
  for (const auto& entry : std::filesystem::directory_iterator(data / "store")) {
    if (entry.path().extension() != ".log") continue;
    if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)) largest = entry.path();
  }
  return largest;
}

}  // namespace

TEST_CASE("writes that were answered and lie behind damage in the log are not passed over") {
  StoreFixture f;
  for (int i = 0; i < 100; ++i) f.Write({PutItem{"item" + std::to_string(i), {}}});
  f.Close();
  const std::filesystem::path log = LargestLog(f.data());
  const auto size = std::filesystem::file_size(log);
  {
    std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.write("\x5a\xa5\x5a\xa5", 4);
  }
  for (bool read_only : {false, true, false}) {  // it stays as it is
    const absl::Status status = Store::Open(f.data(), {.read_only = read_only}).status();
    INFO(status.ToString());
    CHECK(absl::IsDataLoss(status));
    CHECK(std::string(status.message()).find("lie behind the damage") != std::string::npos);
    CHECK(std::string(status.message()).find("--give-up-damaged-writes") != std::string::npos);
  }
  CHECK(std::filesystem::file_size(log) == size);
  CHECK(absl::IsNotFound(GiveUpDamagedWrites(f.data() / "elsewhere")));
  REQUIRE(GiveUpDamagedWrites(f.data()).ok());
  auto store = Store::Open(f.data(), {});
  REQUIRE(store.status() == absl::OkStatus());
  CHECK((*store)->FindItem(f.scope_, "item0").has_value());
  CHECK((*store)->FindItem(f.scope_, "item20").has_value());
  CHECK_FALSE((*store)->FindItem(f.scope_, "item99").has_value());
}

TEST_CASE("a write that was cut off at the end of the log is passed over, and all before it stay") {
  for (const bool garbled : {false, true}) {
    StoreFixture f;
    for (int i = 0; i < 100; ++i) f.Write({PutItem{"item" + std::to_string(i), {}}});
    f.Close();
    const std::filesystem::path log = LargestLog(f.data());
    const auto size = std::filesystem::file_size(log);
    if (garbled) {
      std::fstream file(log, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(size - 4));
      file.write("\x5a\xa5\x5a\xa5", 4);
    } else {
      std::filesystem::resize_file(log, size - 4);
    }
    auto store = Store::Open(f.data(), {});
    REQUIRE(store.status() == absl::OkStatus());
    CHECK((*store)->FindItem(f.scope_, "item98").has_value());
    CHECK_FALSE((*store)->FindItem(f.scope_, "item99").has_value());
  }
}

TEST_CASE("a checkpoint is the store as it was, and takes no harm from later writes") {
  StoreFixture f;
  f.Write({PutItem{"a", {}}, Event("u1", "a")});
  storage::ReleaseRecord release;
  release.set_id("r1");
  REQUIRE(f.store_->PutRelease(f.scope_, release).ok());
  auto checkpoint = f.store_->CreateCheckpoint();
  REQUIRE(checkpoint.status() == absl::OkStatus());
  auto second = f.store_->CreateCheckpoint();
  REQUIRE(second.ok());
  CHECK(*second != *checkpoint);
  CHECK(checkpoint->parent_path() == f.data() / "checkpoints");
  f.Write({PutItem{"b", {}}, DeleteItem{"a"}});
  auto copy = Store::Open(*checkpoint, {.read_only = true});  // beside the open one
  REQUIRE(copy.status() == absl::OkStatus());
  CHECK((*copy)->End() == 2);
  CHECK((*copy)->epoch() == f.store_->epoch());
  CHECK((*copy)->GetItem(f.scope_, 0)->id() == "a");
  CHECK_FALSE((*copy)->FindItem(f.scope_, "b").has_value());
  CHECK((*copy)->GetRelease(f.scope_, "r1").ok());
  CHECK((*copy)->ReadHistory(f.scope_, 1, {}).size() == 1);
}

TEST_CASE("sizes grow with what is written") {
  StoreFixture f;
  const int64_t before = f.store_->DiskBytes();
  std::mt19937 random(1);
  std::string noise(500000, ' ');
  for (char& c : noise) c = static_cast<char>('a' + random() % 26);
  f.Write({PutItem{"a", Fields({{"x", Text(noise)}})}});
  REQUIRE(f.store_->Flush().ok());
  CHECK(f.store_->DiskBytes() > before + 500000);
}

}  // namespace waymark::tests
