// A disk that is full: writes are refused with a remedy, nothing is lost, and they work again when there is
// room.
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cstring>
#include <fstream>

#include "tests/store/fixture.h"
#include "tests/support/skip.h"

namespace waymark::tests {
namespace {

class SmallDisk {
 public:
  explicit SmallDisk(const char* size)
      : mounted_(mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, size) == 0) {
    if (!mounted_)
      Skipped().push_back(std::string("a full disk: tmpfs cannot be mounted: ") + std::strerror(errno));
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::filesystem::path& path() const { return folder_.path(); }

  void Fill() {
    std::ofstream file(path() / "filler", std::ios::binary | std::ios::app);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())) && file.flush()) {
    }
  }
  void Free() { std::filesystem::remove(path() / "filler"); }

 private:
  TemporaryFolder folder_;
  bool mounted_;
};

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
  SmallDisk disk("size=40m");
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

TEST_CASE("what is written after a full disk survives a crash, also when the log began with the torn write") {
  SmallDisk disk("size=24m");
  if (!disk.mounted()) return;
  const std::filesystem::path data = disk.path() / "data", copy = disk.path() / "copy";
  auto store = Store::Open(data, {.cache_bytes = 8 << 20});
  REQUIRE(store.ok());
  const Scope scope = *(*store)->CreateCollection({});
  REQUIRE((*store)->Write(scope, {Item(0)}).ok());
  // Everything flushed: the next log file is empty, and its first record is the one that does not fit.
  REQUIRE((*store)->Flush().ok());
  disk.Fill();
  int count = 1 + WriteUntilFull(**store, scope, 1);
  disk.Free();
  for (int i = 0; i < 5; ++i) REQUIRE((*store)->Write(scope, {Item(count++)}).status() == absl::OkStatus());
  // The folder as a crash would leave it: copied while it is open.
  std::filesystem::copy(data, copy, std::filesystem::copy_options::recursive);
  auto crashed = Store::Open(copy, {.cache_bytes = 8 << 20});
  REQUIRE(crashed.status() == absl::OkStatus());
  CheckAll(**crashed, scope, count);
}

}  // namespace waymark::tests
