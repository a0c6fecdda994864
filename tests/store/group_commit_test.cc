#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "tests/store/fixture.h"

namespace waymark::tests {

TEST_CASE("many writers: each answered write is visible, offsets are dense, each event id is there once") {
  StoreFixture f;
  std::vector<LogOffset> heard;  // by the committing thread alone
  f.store_->AddListener([&](Scope, absl::Span<const Change> changes) {
    for (const Change& change : changes) heard.push_back(change.offset);
  });
  constexpr int kThreads = 8, kEach = 60;
  std::atomic<int> failures = 0, duplicates = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        // All threads send the same events, name the same items and users, and put the same items.
        WriteEvent event = Event(absl::StrCat("u", i % 5), absl::StrCat("i", i), i);
        event.event_id = absl::StrCat("e", i);
        const std::string own = absl::StrCat("own-", t, "-", i);
        auto receipt =
            f.store_->Write(f.scope_, {event, PutItem{own, {}}, PutItem{absl::StrCat("i", i), {}}});
        if (!receipt.ok()) {
          ++failures;
          continue;
        }
        for (const MutationResult& result : receipt->results) failures += result.status.ok() ? 0 : 1;
        duplicates += receipt->results[0].duplicate ? 1 : 0;
        // Answered, so it is seen.
        const auto item = f.store_->FindItem(f.scope_, own);
        if (!item.has_value() || !f.store_->GetItem(f.scope_, *item).ok()) ++failures;
        if (!Covers(f.store_->EndPosition(), receipt->position)) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(duplicates == (kThreads - 1) * kEach);
  const StoreCounts counts = f.store_->Counts(f.scope_);
  CHECK(counts.events == kEach);
  CHECK(counts.users == 5);
  CHECK(counts.items == kThreads * kEach + kEach);
  CHECK(f.store_->ItemEnd(f.scope_) == kThreads * kEach + kEach);
  const LogOffset end = kEach + 2 * kThreads * kEach;
  CHECK(f.store_->End() == end);
  REQUIRE(heard.size() == end);
  CHECK(std::is_sorted(heard.begin(), heard.end()));
  f.Reopen();
  const auto log = f.ReadLog();
  REQUIRE(log.size() == end);
  std::set<std::string> event_ids;
  std::set<ItemOrdinal> ordinals;
  for (size_t i = 0; i < log.size(); ++i) {
    REQUIRE(log[i].offset == i + 1);
    if (log[i].entry.has_event()) CHECK(event_ids.insert(log[i].entry.event().event_id()).second);
    if (log[i].entry.has_item()) ordinals.insert(log[i].entry.item().ordinal());
  }
  CHECK(event_ids.size() == kEach);
  CHECK(ordinals.size() == kThreads * kEach + kEach);
  // Every put of a shared item grew its version.
  CHECK(f.store_->GetItem(f.scope_, *f.store_->FindItem(f.scope_, "i0"))->version() == kThreads);
}

TEST_CASE("readers, collection makers and erasures run beside writers") {
  StoreFixture f;
  std::atomic<bool> stop = false;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const std::string who = absl::StrCat(i % 3 == 0 ? "v" : "u", t);
        std::vector<Mutation> mutations = {Event(who, absl::StrCat("i", i), i),
                                           PutItem{absl::StrCat("i", i), {}}};
        if (i % 20 == 19) mutations.push_back(Identify(absl::StrCat("u", t), absl::StrCat("v", t), i));
        if (i % 30 == 29) mutations.push_back(DeleteUser{absl::StrCat("u", t)});
        auto receipt = f.store_->Write(f.scope_, std::move(mutations));
        if (!receipt.ok()) ++failures;
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 10; ++i) {
      if (!f.store_->CreateCollection({"default", absl::StrCat("c", i)}).ok()) ++failures;
      if (!f.store_->PutAlias("default", "live", absl::StrCat("c", i)).ok()) ++failures;
    }
  });
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        for (UserNumber user = 1; user < 8; ++user) f.store_->ReadHistory(f.scope_, user, {.limit = 10});
        const LogOffset end = f.store_->End();
        LogOffset last = 0;
        auto read = f.store_->Read(f.scope_, 0, 1 << 30, [&](const Change& change) {
          if (change.offset <= last) ++failures;
          last = change.offset;
          return absl::OkStatus();
        });
        if (!read.ok() || *read < end) ++failures;
        if (!f.store_
                 ->ForEachHistory(f.scope_, end,
                                  [&](UserNumber, absl::Span<const HistoryEvent> events) {
                                    for (const HistoryEvent& event : events)
                                      failures += event.offset > end ? 1 : 0;
                                    return true;
                                  })
                 .ok()) {
          ++failures;
        }
        f.store_->Counts(f.scope_);
        f.store_->FindCollection({"default", "live"}).status().IgnoreError();
      }
    });
  }
  for (int t = 0; t < 3; ++t) threads[static_cast<size_t>(t)].join();
  stop = true;
  for (size_t t = 3; t < threads.size(); ++t) threads[t].join();
  CHECK(failures == 0);
}

}  // namespace waymark::tests
