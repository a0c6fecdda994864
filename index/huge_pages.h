// Memory for large tables that are read here and there: in pages of 2 MiB where the kernel gives them, so
// that a read seldom waits for the page tables.
#pragma once
#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <vector>

namespace waymark {

template <typename T>
struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <typename U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(size_t count) {
    constexpr size_t kPage = size_t{2} << 20;
    const size_t bytes = count * sizeof(T);
    if (bytes < kPage) return static_cast<T*>(operator new (bytes, std::align_val_t{64}));
    void* const memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    constexpr size_t kPage = size_t{2} << 20;
    if (count * sizeof(T) < kPage) {
      operator delete (memory, std::align_val_t{64});
    } else {
      std::free(memory);
    }
  }
  bool operator==(const HugePageAllocator&) const { return true; }
};

template <typename T>
using HugePageVector = std::vector<T, HugePageAllocator<T>>;

}  // namespace waymark
