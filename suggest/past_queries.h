// What people searched for: for each query, who asked it when last. A person counts once, however often they
// ask, so nobody can make a query popular alone, and an event that is counted again changes nothing.
//
//   PastQueries queries({});
//   queries.Add("Star  Wars!", user, time);
//   for (const PastQuery& query : queries.Shown(now)) ...
//
// The weight of a query at the time `now` is
//   sum over its users of w 2^(-(now - last time) / half_life)
// where w is 1 for who asked, and 1 + follow_weight for who went on to an item that it found.
// Of a query only the newest 64 users are kept. Where there were more, their sum S stands for all: if the
// oldest of them asked T ago, a steady stream of users would have the share 1 - 2^(-T / half_life) of its
// decayed sum in that time, so the weight is S divided by it.
//
// Queries are user input: they are shown only when min_users people asked them (a visitor who was identified
// counts as that user), an erased user's part is taken out, and who asked what is forgotten after 180 days.
//
// One thread, but for size() and memory_bytes().
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "recommend/checked_file.h"
#include "store/ids.h"

namespace waymark {

inline constexpr size_t kMaxPastQueryBytes = 200;  // longer queries are not counted
inline constexpr size_t kMaxPastQueryUsers = 64;

struct PastQueryOptions {
  absl::Duration half_life = absl::Hours(24 * 14);
  size_t min_users = 3;
  double follow_weight = 2;
  // Beyond either of them the tenth with the least weight goes.
  size_t max_queries = 200'000, max_pairs = 2'000'000;
};

struct PastQuery {
  std::string query;  // its words in lower case
  double weight = 0;
  size_t users = 0;  // at most kMaxPastQueryUsers
};

class PastQueries {
 public:
  explicit PastQueries(const PastQueryOptions& options) : options_(options) {}

  // Nothing for user 0, queries without words and those that are too long.
  void Add(std::string_view query, UserNumber user, absl::Time time);
  // The user, who has asked it, went on to an item that it found.
  void Follow(std::string_view query, UserNumber user);
  // Erasure.
  void Forget(absl::Span<const UserNumber> users);
  // Visitors that turned out to be users.
  void Join(const absl::flat_hash_map<UserNumber, UserNumber>& user_of_visitor);
  void Clear();
  // Whether anything has changed that Shown() may show since this was asked last.
  bool TakeChanged() { return std::exchange(changed_, false); }

  // Queries that enough people asked and of which it is not known (or not since `not_before`) whether they
  // find something; those that nobody knows of first.
  std::vector<std::string> Unchecked(absl::Time not_before, size_t limit) const;
  void SetFinds(const std::string& query, bool finds, absl::Time checked);
  // Those that enough people asked and that find something. Forgets what is past its time.
  std::vector<PastQuery> Shown(absl::Time now);

  size_t size() const { return size_.load(std::memory_order_relaxed); }
  // About how much memory they take.
  size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // The version of the file counts: in those of 1 nobody went on to anything.
  static constexpr uint32_t kFileVersion = 2;
  void Save(CheckedWriter* writer) const;
  absl::Status Load(CheckedReader* reader);

 private:
  struct Asked {
    UserNumber user;
    int64_t time_us;
    uint64_t followed = 0;  // 1: went on to an item
  };
  enum class Finds : uint8_t { kUnknown, kNo, kYes };
  struct Entry {
    std::vector<Asked> users;
    Finds finds = Finds::kUnknown;
    int64_t checked_us = 0;
  };

  void Put(Entry* entry, Asked asked);
  double Weight(const Entry& entry, int64_t now_us) const;
  void Trim();
  void Counted() {
    constexpr size_t kTextBytes = 40;
    size_.store(entries_.size(), std::memory_order_relaxed);
    bytes_.store(
        entries_.size() * (sizeof(std::pair<std::string, Entry>) + kTextBytes) + pairs_ * sizeof(Asked),
        std::memory_order_relaxed);
  }

  const PastQueryOptions options_;
  absl::flat_hash_map<std::string, Entry> entries_;
  size_t pairs_ = 0;
  int64_t newest_us_ = 0;
  bool changed_ = false;
  // What was served to them a moment before their erasure may come later.
  absl::flat_hash_set<UserNumber> erased_;
  std::atomic<size_t> size_ = 0, bytes_ = 0;
};

}  // namespace waymark
