// LibTorch's own threads are off while this lives: training is parallel over the parts of a batch
// (shard_pool.h). Includes LibTorch: for training/ only.
#pragma once
#include <torch/torch.h>

namespace waymark {

class OneIntraOpThread {
 public:
  OneIntraOpThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
  ~OneIntraOpThread() { at::set_num_threads(before_); }
  OneIntraOpThread(const OneIntraOpThread&) = delete;

 private:
  int before_;
};

}  // namespace waymark
