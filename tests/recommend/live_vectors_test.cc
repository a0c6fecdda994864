#include "recommend/live_vectors.h"

#include <unistd.h>

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/recommend/fake_retriever.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::FakeRetriever;

// Every ordinal that the store has given out, but those that are said to be gone.
class StoreItems : public ItemDirectory {
 public:
  StoreItems(const Store* store, Scope scope) : store_(store), scope_(scope) {}
  std::optional<ItemOrdinal> Find(std::string_view id) const override { return store_->FindItem(scope_, id); }
  std::vector<std::string> Ids(absl::Span<const ItemOrdinal> items) const override {
    return store_->ItemIds(scope_, items);
  }
  ItemOrdinal End() const override { return store_->ItemEnd(scope_); }
  bool Live(ItemOrdinal item) const override { return store_->GetItem(scope_, item).ok(); }
  void Content(absl::Span<const ItemOrdinal>, std::vector<std::vector<uint64_t>>*) const override {}

 private:
  const Store* store_;
  Scope scope_;
};

struct Shop {
  explicit Shop(int items)
      : folder(std::filesystem::temp_directory_path() / ("waymark_vectors_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder);
    auto opened = Store::Open(folder, {});
    REQUIRE(opened.ok());
    store = *std::move(opened);
    auto created = store->CreateCollection({});
    REQUIRE(created.ok());
    scope = *created;
    directory = std::make_unique<StoreItems>(store.get(), scope);
    Put(0, items);
  }
  ~Shop() {
    store.reset();
    std::filesystem::remove_all(folder);
  }
  void Put(int first, int end) {
    std::vector<Mutation> mutations;
    for (int i = first; i < end; ++i) {
      PutItem item{.id = absl::StrCat("i", i)};
      (*item.fields.mutable_fields())["price"].set_number_value(++price);
      mutations.push_back(item);
    }
    REQUIRE(store->Write(scope, mutations).ok());
  }
  std::unique_ptr<LiveVectors> Open(std::shared_ptr<const Retriever> retriever) {
    auto vectors =
        LiveVectors::Open(store.get(), scope, std::move(retriever), directory.get(), {.tail_limit = 200});
    REQUIRE(vectors.ok());
    return *std::move(vectors);
  }
  void Follow(LiveVectors* vectors) {
    std::vector<Change> changes;
    auto read = store->Read(scope, vectors->position(), 1000, [&](const Change& change) {
      changes.push_back(change);
      return absl::OkStatus();
    });
    REQUIRE(read.ok());
    REQUIRE(vectors->Apply(changes, *read).ok());
  }
  std::filesystem::path folder;
  std::unique_ptr<Store> store;
  Scope scope;
  std::unique_ptr<StoreItems> directory;
  int price = 0;
};

TEST_CASE("every live item has a vector, and items that come and go follow") {
  Shop shop(1500);
  auto retriever = std::make_shared<FakeRetriever>();
  auto vectors = shop.Open(retriever);
  CHECK(vectors->index()->size() == 1500);
  CHECK(vectors->position() == shop.store->End());
  shop.Put(1500, 1600);
  REQUIRE(shop.store->Write(shop.scope, {DeleteItem{"i7"}, DeleteItem{"i1550"}}).ok());
  shop.Follow(vectors.get());
  CHECK(vectors->index()->size() == 1598);
  CHECK(vectors->WaitFor(shop.store->End(), absl::Now()));
  std::vector<float> read(2 * 8);
  CHECK(vectors->index()->ReadVectors(std::vector<ItemOrdinal>{7, 8}, absl::MakeSpan(read)) == 1);
}

TEST_CASE("an item whose content changes has its new vector, one whose price changes keeps its own") {
  Shop shop(10);
  auto retriever = std::make_shared<FakeRetriever>();
  auto vectors = shop.Open(retriever);
  std::vector<float> before(10 * 8), after(10 * 8);
  std::vector<ItemOrdinal> items(10);
  for (ItemOrdinal i = 0; i < 10; ++i) items[i] = i;
  vectors->index()->ReadVectors(items, absl::MakeSpan(before));
  retriever->Turn(4);
  shop.Put(0, 10);
  shop.Follow(vectors.get());
  CHECK(vectors->index()->ReadVectors(items, absl::MakeSpan(after)) == 10);
  for (size_t i = 0; i < 10; ++i) {
    const bool same = std::equal(&before[i * 8], &before[i * 8] + 8, &after[i * 8]);
    CHECK(same == (i != 4));
  }
}

TEST_CASE("vectors are opened from their checkpoint, and only what came since is embedded") {
  Shop shop(500);
  {
    auto vectors = shop.Open(std::make_shared<FakeRetriever>());
    REQUIRE(vectors->Checkpoint().ok());
  }
  shop.Put(500, 520);
  auto again = std::make_shared<FakeRetriever>();
  auto vectors = shop.Open(again);
  CHECK(vectors->index()->size() == 520);
  CHECK(again->embedded() == 20);
  // Another retriever has a folder of its own.
  auto other = std::make_shared<FakeRetriever>(std::string(64, 'b'));
  CHECK(shop.Open(other)->index()->size() == 520);
  CHECK(other->embedded() == 520);
}

}  // namespace
}  // namespace waymark
