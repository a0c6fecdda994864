// One coordinator at a time on a state folder: two would each count rounds and put their own model in its
// place.
//
//   auto lock = StateLock::Take(folder);   // held while it lives; the system takes it back from a process
//   that ends
#pragma once
#include <filesystem>
#include <utility>

#include "absl/status/statusor.h"

namespace waymark {

class StateLock {
 public:
  // Makes the folder when it is not there. FAILED_PRECONDITION: somebody else holds it; UNAVAILABLE: the
  // disk.
  static absl::StatusOr<StateLock> Take(const std::filesystem::path& folder);

  StateLock(StateLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  StateLock& operator=(StateLock&&) = delete;
  ~StateLock();

 private:
  explicit StateLock(int file) : file_(file) {}
  int file_;
};

}  // namespace waymark
