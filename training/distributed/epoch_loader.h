// Reads the next epoch while this one is trained on. At most two epochs' parts of a rank are in memory.
//
//   EpochLoader loader([&](int64_t epoch) { return LoadEpoch(...); }, epochs);
//   absl::StatusOr<EpochData> data = loader.Take(epoch);
//
// One thread.
#pragma once
#include <functional>
#include <future>

#include "training/distributed/epoch_parts.h"

namespace waymark {

class EpochLoader {
 public:
  using Load = std::function<absl::StatusOr<EpochData>(int64_t epoch)>;
  EpochLoader(Load load, int64_t epochs) : load_(std::move(load)), epochs_(epochs) {}
  // The epoch, when it is there; the one after it begins to be read.
  absl::StatusOr<EpochData> Take(int64_t epoch);

 private:
  Load load_;
  int64_t epochs_;
  int64_t coming_ = -1;
  std::future<absl::StatusOr<EpochData>> next_;
};

}  // namespace waymark
