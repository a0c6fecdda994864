#include "recommend/live_behaviour.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/recommend/contexts.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::ContextOf;

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("waymark_live_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Shop {
  Shop() {
    auto opened = Store::Open(folder.path(), {});
    REQUIRE(opened.ok());
    store = *std::move(opened);
    auto created = store->CreateCollection({});
    REQUIRE(created.ok());
    scope = *created;
  }
  WriteEvent Event(const std::string& type, int user, int item, int64_t seconds) const {
    WriteEvent event;
    event.type = type;
    event.user_id = absl::StrCat("u", user);
    event.items.push_back({.item_id = absl::StrCat("i", item)});
    event.time = absl::FromUnixSeconds(seconds);
    event.received_time = event.time;
    return event;
  }
  void Write(std::vector<Mutation> mutations) {
    auto receipt = store->Write(scope, std::move(mutations));
    REQUIRE(receipt.ok());
    for (const MutationResult& result : receipt->results) REQUIRE(result.status.ok());
  }
  std::unique_ptr<LiveBehaviour> Open() {
    auto behaviour = LiveBehaviour::Open(store.get(), scope, {});
    REQUIRE(behaviour.ok());
    return *std::move(behaviour);
  }
  // What a follower does.
  void Follow(LiveBehaviour* behaviour, size_t batch = 100) {
    while (behaviour->position() < store->End()) {
      std::vector<Change> changes;
      auto read = store->Read(scope, behaviour->position(), batch, [&](const Change& change) {
        changes.push_back(change);
        return absl::OkStatus();
      });
      REQUIRE(read.ok());
      behaviour->Apply(changes, *read);
    }
  }
  Folder folder;
  std::unique_ptr<Store> store;
  Scope scope;
};

void CheckEqual(const BehaviourCounts& a, const BehaviourCounts& b, ItemOrdinal items) {
  CHECK(a.event_count() == b.event_count());
  for (ItemOrdinal item = 0; item < items; ++item) {
    CHECK(a.EventCount(item) == b.EventCount(item));
    const RequestContext context = ContextOf({item});
    for (auto query :
         {&BehaviourCounts::CoVisited, &BehaviourCounts::Transitions, &BehaviourCounts::Popular}) {
      std::map<ItemOrdinal, float> left, right;
      for (const ScoredItem& s : (a.*query)(context, 1000)) left[s.item] = s.score;
      for (const ScoredItem& s : (b.*query)(context, 1000)) right[s.item] = s.score;
      REQUIRE(left.size() == right.size());
      for (const auto& [other, score] : left) CHECK(score == Approx(right[other]).epsilon(1e-4).margin(1e-5));
    }
  }
}

TEST_CASE("counts taken in live, in any order of arrival, are those of a rebuild") {
  Shop shop;
  auto live = shop.Open();
  std::mt19937 random(1);
  std::vector<Mutation> mutations;
  for (int user = 0; user < 6; ++user) {
    for (int i = 0; i < 60; ++i)
      mutations.push_back(
          shop.Event(i % 7 == 3 ? "impression" : "click", user, static_cast<int>(random() % 15), i));
  }
  // One event with several items, in the middle of a history.
  WriteEvent basket = shop.Event("purchase", 2, 3, 30);
  for (int item : {5, 9, 4}) basket.items.push_back({.item_id = absl::StrCat("i", item)});
  mutations.push_back(basket);
  std::shuffle(mutations.begin(), mutations.end(), random);
  for (size_t begin = 0; begin < mutations.size(); begin += 37) {
    shop.Write({mutations.begin() + static_cast<std::ptrdiff_t>(begin),
                mutations.begin() + static_cast<std::ptrdiff_t>(std::min(mutations.size(), begin + 37))});
    // The follower is sometimes behind, so the store knows later events than it has reached.
    if (begin % 2 == 0) shop.Follow(live.get(), 11);
  }
  shop.Follow(live.get());
  auto rebuilt = shop.Open();
  CHECK(rebuilt->position() == shop.store->End());
  CheckEqual(*live->counts(), *rebuilt->counts(), 15);
}

TEST_CASE("a checkpoint and the log's tail give what never stopping does") {
  Shop shop;
  auto live = shop.Open();
  std::mt19937 random(2);
  for (int part = 0; part < 3; ++part) {
    std::vector<Mutation> mutations;
    for (int i = 0; i < 200; ++i)
      mutations.push_back(shop.Event("view", static_cast<int>(random() % 10), static_cast<int>(random() % 20),
                                     part * 1000 + i));
    shop.Write(mutations);
    shop.Follow(live.get());
    if (part == 1) REQUIRE(live->Checkpoint().ok());
  }
  auto reopened = shop.Open();
  CHECK(reopened->position() == shop.store->End());
  CheckEqual(*live->counts(), *reopened->counts(), 20);
}

TEST_CASE("a damaged checkpoint is passed over and the counts are rebuilt") {
  Shop shop;
  auto live = shop.Open();
  shop.Write({shop.Event("view", 1, 1, 1), shop.Event("view", 1, 2, 2)});
  shop.Follow(live.get());
  REQUIRE(live->Checkpoint().ok());
  const auto file = shop.folder.path() / "recommend" /
                    (std::to_string(shop.scope.tenant) + "-" + std::to_string(shop.scope.collection)) /
                    "counts";
  REQUIRE(std::filesystem::exists(file));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  auto reopened = shop.Open();
  CheckEqual(*live->counts(), *reopened->counts(), 2);
}

TEST_CASE("changes that were taken in before are passed over") {
  Shop shop;
  auto live = shop.Open();
  shop.Write({shop.Event("view", 1, 1, 1), shop.Event("view", 1, 2, 2)});
  std::vector<Change> changes;
  auto read = shop.store->Read(shop.scope, 0, 100, [&](const Change& change) {
    changes.push_back(change);
    return absl::OkStatus();
  });
  REQUIRE(read.ok());
  live->Apply(changes, *read);
  live->Apply(changes, *read);
  CHECK(live->counts()->event_count() == 2);
  CHECK(live->WaitFor(*read, absl::Now()));
  CHECK_FALSE(live->WaitFor(*read + 1, absl::Now() + absl::Milliseconds(5)));
}

TEST_CASE("events of a visitor count in the history of the user that it turns out to be") {
  Shop shop;
  auto live = shop.Open();
  WriteEvent before = shop.Event("view", 1, 1, 1);
  before.user_id.clear();
  before.visitor_id = "v";
  WriteEvent identify;
  identify.type = "identify";
  identify.user_id = "u1";
  identify.visitor_id = "v";
  identify.time = absl::FromUnixSeconds(2);
  shop.Write({before});
  shop.Write({identify});
  shop.Write({shop.Event("view", 1, 2, 3)});
  shop.Follow(live.get());
  CHECK(live->counts()->Transitions(ContextOf({0}), 10).size() == 1);
}

TEST_CASE("item weights are made, kept and found again") {
  Shop shop;
  auto live = shop.Open();
  CHECK_FALSE(live->EaseIsStale());
  std::vector<Mutation> mutations;
  for (int i = 0; i < 100; ++i) mutations.push_back(shop.Event("view", i % 10, i % 7, i));
  shop.Write(mutations);
  shop.Follow(live.get());
  CHECK(live->EaseIsStale());
  CHECK(live->ease() == nullptr);
  REQUIRE(live->RefreshEase().ok());
  CHECK_FALSE(live->EaseIsStale());
  CHECK(live->ease()->items().size() == 7);
  CHECK(shop.Open()->ease()->items().size() == 7);
}

TEST_CASE("two hundred thousand events are followed, rebuilt and opened within seconds", "[.slow]") {
  Shop shop;
  auto live = shop.Open();
  std::mt19937 random(3);
  const auto seconds = [](auto from) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
  };
  for (int batch = 0; batch < 100; ++batch) {
    std::vector<Mutation> mutations;
    // In the first half by time, then in no order at all: each of those is a late event.
    for (int i = 0; i < 2000; ++i)
      mutations.push_back(
          shop.Event("view", static_cast<int>(random() % 20000), static_cast<int>(random() % 12000),
                     batch < 50 ? batch * 2000 + i : static_cast<int64_t>(random() % 200000)));
    shop.Write(mutations);
    if (batch != 49 && batch != 99) continue;
    const auto start = std::chrono::steady_clock::now();
    shop.Follow(live.get(), 4096);
    std::printf("100,000 events followed in %.2f s\n", seconds(start));
  }
  auto start = std::chrono::steady_clock::now();
  auto rebuilt = shop.Open();
  std::printf("200,000 events rebuilt in %.2f s\n", seconds(start));
  CHECK(rebuilt->counts()->event_count() == 200000);
  REQUIRE(rebuilt->Checkpoint().ok());
  start = std::chrono::steady_clock::now();
  CHECK(shop.Open()->position() == shop.store->End());
  std::printf("opened from a checkpoint in %.2f s\n", seconds(start));
}

TEST_CASE("events from the future count as of when they came, live and when counted anew") {
  Shop shop;
  const auto live = shop.Open();  // counts what follows as it comes
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  std::vector<Mutation> mutations;
  for (int user = 0; user < 3; ++user) mutations.push_back(shop.Event("view", user, 1, now));
  // One view by a clock that is 23 hours fast.
  WriteEvent ahead = shop.Event("view", 9, 2, now + 23 * 3600);
  mutations.push_back(ahead);
  shop.Write(std::move(mutations));
  const auto popularity = [&](const BehaviourCounts& counts, const char* id) {
    std::vector<Candidate> candidates(1);
    candidates[0].item = *shop.store->FindItem(shop.scope, id);
    RequestContext context = ContextOf({});
    context.now = absl::FromUnixSeconds(now);
    counts.Fill(context, absl::MakeSpan(candidates));
    return candidates[0].signals[static_cast<size_t>(Signal::kPopularityScore)];
  };
  Interactions interactions = *ReadInteractions(*shop.store, shop.scope, shop.store->End());
  BehaviourCounts counted({});
  counted.AddAll(interactions);
  shop.Follow(live.get());
  for (const BehaviourCounts* counts : std::vector<const BehaviourCounts*>{&counted, live->counts().get()}) {
    // One event of now, and its share of all four with the weight of a thousand.
    CHECK(popularity(*counts, "i2") <= std::log(1 + 1000 / 4.0) + 1e-6);
    CHECK(popularity(*counts, "i1") == Approx(std::log(3 + 3000 / 4.0)));
  }
}

}  // namespace
}  // namespace waymark
