#include "training/distributed/epoch_loader.h"

namespace waymark {

absl::StatusOr<EpochData> EpochLoader::Take(int64_t epoch) {
  if (coming_ != epoch) {
    if (next_.valid()) next_.wait();
    next_ = std::async(std::launch::async, load_, epoch);
  }
  absl::StatusOr<EpochData> data = next_.get();
  coming_ = -1;
  if (data.ok() && epoch + 1 < epochs_) {
    coming_ = epoch + 1;
    next_ = std::async(std::launch::async, load_, coming_);
  }
  return data;
}

}  // namespace waymark
