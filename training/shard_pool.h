// Threads that work on the parts of a batch side by side: part i always on thread i % threads.
//
//   ShardPool pool(2);
//   pool.Run(parts, [&](size_t part) { ... });  // returns when all are done
//
// Parallel over data, with one intra-op thread each: LibTorch's own threads lose more in joining after every
// small operator than they win. An exception of a part is thrown again by Run. One caller at a time.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace waymark {

class ShardPool {
 public:
  explicit ShardPool(int threads);
  ~ShardPool();
  void Run(size_t parts, const std::function<void(size_t)>& work);
  size_t threads() const { return threads_; }

 private:
  void Serve(size_t thread);
  void RunOwn(size_t thread);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  uint64_t round_ = 0;
  size_t running_ = 0, parts_ = 0, threads_;
  bool stop_ = false;
  const std::function<void(size_t)>* work_ = nullptr;
  std::exception_ptr failure_;
  std::vector<std::thread> workers_;
};

}  // namespace waymark
