#include "training/distributed/epoch_parts.h"

#include <map>
#include <set>

#include "tests/shards/written_shards.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

std::vector<HistoryExample> HistoriesOfLengths(size_t users) {
  std::vector<HistoryExample> histories;
  for (uint64_t u = 0; u < users; ++u) {
    HistoryExample example;
    example.user = 1000 + u;
    for (uint64_t e = 0; e < 2 + u * u % 23; ++e) {
      example.rows.push_back(static_cast<int64_t>((u + e) % 30));
      example.times_us.push_back(static_cast<int64_t>(u * 100 + e));
    }
    example.held_out = 1;
    histories.push_back(example);
  }
  return histories;
}

RetrieverOptions FewTokens() {
  RetrieverOptions options;
  options.batch_tokens = 64;
  options.shape.history_limit = 8;
  return options;
}

// What a batch is made of: user, place in the history, length of each window.
using Content = std::multiset<std::tuple<uint64_t, uint64_t, uint32_t>>;

std::vector<std::map<uint64_t, std::vector<std::tuple<uint64_t, uint64_t, uint32_t>>>> ContentOf(
    const EpochData& data, const std::vector<uint64_t>& own) {
  std::vector<std::map<uint64_t, std::vector<std::tuple<uint64_t, uint64_t, uint32_t>>>> batches(
      data.tokens.size());
  for (size_t p = 0; p < own.size(); ++p) {
    for (size_t b = 0; b < data.tokens.size(); ++b) {
      for (const TrainingWindow& window : data.windows[p][b]) {
        const auto& starts = data.events.starts;
        const size_t u = std::upper_bound(starts.begin(), starts.end(), window.first) - starts.begin() - 1;
        batches[b][own[p]].push_back({data.events.users[u], window.first - starts[u], window.length});
      }
    }
  }
  return batches;
}

TEST_CASE("Batches are the same on any number of ranks, and each rank reads its own files alone") {
  const ShardFolder folder("waymark-parts");
  const auto index = WriteShards(folder.path(), 9, 30, HistoriesOfLengths(150), 1);
  const RetrieverOptions options = FewTokens();
  const std::vector<uint64_t> all = PartsOfRank(4, 0, 1);
  const ShardReader whole_reader(folder.path(), &index);
  for (uint64_t epoch = 0; epoch < 3; ++epoch) {
    const auto whole = LoadEpoch(whole_reader, index, options, all, 4, epoch);
    REQUIRE(whole.ok());
    const auto expected = ContentOf(*whole, all);
    for (const int ranks : {2, 3, 4}) {
      auto together = ContentOf(EpochData{.tokens = std::vector<int64_t>(whole->tokens.size())}, {});
      std::vector<int64_t> tokens(whole->tokens.size(), 0);
      size_t validated = 0, read = 0;
      for (int r = 0; r < ranks; ++r) {
        const std::vector<uint64_t> own = PartsOfRank(4, r, ranks);
        const ShardReader reader(folder.path(), &index);
        const auto data = LoadEpoch(reader, index, options, own, 4, epoch);
        REQUIRE(data.ok());
        const auto content = ContentOf(*data, own);
        for (size_t b = 0; b < content.size(); ++b) {
          for (const auto& [part, windows] : content[b]) together[b][part] = windows;
          tokens[b] += data->tokens[b];
        }
        validated += data->validation.size();
        read += reader.files_read();
        CHECK(reader.files_read() <= 9 / ranks + 2);
      }
      CHECK(read == 9);
      CHECK((together == expected));
      CHECK(tokens == whole->tokens);
      CHECK(validated == whole->validation.size());
    }
  }
}

TEST_CASE(
    "An epoch predicts every event but each user's first once, evenly over the batches, in another order "
    "each time") {
  const ShardFolder folder("waymark-parts");
  const auto histories = HistoriesOfLengths(150);
  const auto index = WriteShards(folder.path(), 8, 30, histories, 1);
  const RetrieverOptions options = FewTokens();
  const ShardReader reader(folder.path(), &index);
  const std::vector<uint64_t> all = PartsOfRank(4, 0, 1);
  std::set<Content> firsts;
  for (uint64_t epoch = 0; epoch < 4; ++epoch) {
    const auto data = LoadEpoch(reader, index, options, all, 4, epoch);
    REQUIRE(data.ok());
    std::map<uint64_t, std::set<uint64_t>> predicted;
    size_t targets = 0;
    const auto batches = ContentOf(*data, all);
    for (const auto& batch : batches) {
      for (const auto& [part, windows] : batch) {
        for (const auto& [user, first, length] : windows) {
          CHECK(length <= 8);
          for (uint64_t e = first; e < first + length; ++e) CHECK(predicted[user].insert(e).second);
          targets += length;
        }
      }
    }
    CHECK(static_cast<int64_t>(targets) == index.targets());
    for (const HistoryExample& h : histories) {
      const size_t trained = h.rows.size() - 1;
      CHECK(predicted[h.user].size() == trained - 1);
    }
    // 64 tokens each, in windows of at most 8 of four parts.
    CHECK(static_cast<int64_t>(batches.size()) == BatchesOfShards(index, options));
    for (int64_t tokens : data->tokens) {
      CHECK(tokens > 64 - 4 * 8);
      CHECK(tokens < 64 + 4 * 8);
    }
    Content first;
    for (const auto& [part, windows] : batches[0]) first.insert(windows.begin(), windows.end());
    firsts.insert(first);
  }
  CHECK(firsts.size() == 4);
}

TEST_CASE("Every file goes to one part, as evenly as can be") {
  for (const auto& [files, parts] : {std::pair{9, 4}, {4, 4}, {32, 5}}) {
    std::set<int> seen;
    for (const auto& of : FilesOfParts(files, parts, 7, 3)) {
      CHECK(static_cast<int>(of.size()) >= files / parts);
      CHECK(static_cast<int>(of.size()) <= (files + parts - 1) / parts);
      for (int file : of) CHECK(seen.insert(file).second);
    }
    CHECK(static_cast<int>(seen.size()) == files);
  }
  CHECK((FilesOfParts(32, 4, 7, 0) != FilesOfParts(32, 4, 7, 1)));
  CHECK((FilesOfParts(32, 4, 7, 0) != FilesOfParts(32, 4, 8, 0)));
}

TEST_CASE("About as many users are validated on as was asked for, the same ones in every epoch") {
  const ShardFolder folder("waymark-parts");
  const auto index = WriteShards(folder.path(), 8, 30, HistoriesOfLengths(2000), 1);
  RetrieverOptions options = FewTokens();
  options.validation_users = 400;
  const ShardReader reader(folder.path(), &index);
  std::set<std::set<uint64_t>> chosen;
  for (uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto data = LoadEpoch(reader, index, options, PartsOfRank(4, 0, 1), 4, epoch);
    REQUIRE(data.ok());
    std::set<uint64_t> users;
    for (size_t u : data->validation) users.insert(data->events.users[u]);
    CHECK(users.size() > 330);  // 400 +- 4 deviations of sqrt(2000 * .2 * .8) = 18
    CHECK(users.size() < 470);
    chosen.insert(users);
  }
  CHECK(chosen.size() == 1);
}

}  // namespace
}  // namespace waymark
