#include "training/federated/rounds/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace waymark {

absl::StatusOr<StateLock> StateLock::Take(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path path = folder / "lock";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) {
    return absl::UnavailableError(absl::StrCat("cannot write ", path.string(), ": ", std::strerror(errno)));
  }
  StateLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        absl::StrCat("another coordinator runs on ", folder.string(),
                     "; stop it, or give another --state folder to begin a federation of its own"));
  }
  return absl::UnavailableError(absl::StrCat("cannot lock ", path.string(), ": ", std::strerror(errno)));
}

StateLock::~StateLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace waymark
