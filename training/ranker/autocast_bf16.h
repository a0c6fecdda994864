// LibTorch's autocasting to bfloat16 on this thread while it lives: products with matrices take and give
// bfloat16, sums with fp32 and what is made of them stay fp32, and gradients reach the fp32 weights in fp32.
//
// Each weight is cast where it is used: it is used once in a pass, and the cache of casts is one for all
// threads. Includes LibTorch: for training/ only.
#pragma once
#include <ATen/autocast_mode.h>

namespace waymark {

class AutocastBf16 {
 public:
  explicit AutocastBf16(bool on)
      : on_(at::autocast::is_autocast_enabled(at::kCPU)),
        type_(at::autocast::get_autocast_dtype(at::kCPU)),
        cache_(at::autocast::is_autocast_cache_enabled()) {
    at::autocast::set_autocast_enabled(at::kCPU, on);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_cache_enabled(false);
  }
  ~AutocastBf16() {
    at::autocast::set_autocast_enabled(at::kCPU, on_);
    at::autocast::set_autocast_dtype(at::kCPU, type_);
    at::autocast::set_autocast_cache_enabled(cache_);
  }
  AutocastBf16(const AutocastBf16&) = delete;

 private:
  bool on_;
  at::ScalarType type_;
  bool cache_;
};

}  // namespace waymark
