// Small data sets, and a folder for packages and checkpoints.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

#include "recommend/network/counter_random.h"
#include "store/clock.h"
#include "tests/support/memory_directory.h"
#include "training/retriever/retriever_trainer.h"

namespace waymark::tests {

class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() / ("retriever_training." + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Appends a user whose events are a minute apart.
inline void AddHistory(Interactions* events, const std::vector<ItemOrdinal>& items) {
  events->users.push_back(events->users.size() + 1);
  for (ItemOrdinal item : items) {
    events->items.push_back(item);
    events->times_us.push_back(60000000 * static_cast<int64_t>(events->times_us.size()));
    events->offsets.push_back(events->items.size());
    events->item_end = std::max(events->item_end, item + 1);
  }
  events->starts.push_back(events->items.size());
}

// A Markov chain: from item i, `followers` successors that a fixed rule names, each as likely as the others.
// All items are equally popular.
inline Interactions MarkovHistories(size_t users, size_t length, ItemOrdinal items, int followers,
                                    uint64_t seed) {
  Interactions events;
  for (size_t u = 0; u < users; ++u) {
    std::vector<ItemOrdinal> history{static_cast<ItemOrdinal>(RandomBelow(RandomKey(seed, {u}), 0, items))};
    while (history.size() < length) {
      const uint64_t step = RandomBelow(RandomKey(seed, {u}), history.size(), followers);
      history.push_back(static_cast<ItemOrdinal>((history.back() * 7 + 3 + 5 * step) % items));
    }
    AddHistory(&events, history);
  }
  return events;
}

inline MemoryDirectory PlainItems(ItemOrdinal count) {
  MemoryDirectory items;
  for (ItemOrdinal i = 0; i < count; ++i) items.Add("item" + std::to_string(i));
  return items;
}

inline RetrieverOptions SmallOptions() {
  RetrieverOptions options;
  options.shape.width = 32;
  options.shape.hidden = 64;
  options.shape.history_limit = 12;
  options.shape.content_buckets = 256;
  options.shape.content_width = 16;
  options.batch_tokens = 256;
  options.dropout = 0.1;
  options.epochs = 3;
  options.warmup_steps = 10;
  return options;
}

inline RetrieverRun RunInto(const std::filesystem::path& folder) {
  static const FixedClock clock(absl::FromUnixSeconds(1700000000));
  RetrieverRun run;
  run.package_folder = folder;
  run.version = "1";
  run.clock = &clock;
  return run;
}

}  // namespace waymark::tests
