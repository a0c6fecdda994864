// A disk of a few megabytes that a test can fill: a tmpfs of its own. A machine that does not let it be
// mounted is named as skipped.
#pragma once
#include <sys/mount.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/skip.h"

namespace waymark::tests {

class SmallDisk {
 public:
  // size: as tmpfs takes it, "size=100m".
  explicit SmallDisk(const char* size) {
    std::string pattern = (std::filesystem::temp_directory_path() / "waymark-disk-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
    mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, size) == 0;
    if (!mounted_)
      Skipped().push_back(std::string("a full disk: tmpfs cannot be mounted: ") + std::strerror(errno));
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  SmallDisk(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }
  const std::filesystem::path& path() const { return path_; }

  void Fill() {
    std::ofstream file(path() / "filler", std::ios::binary | std::ios::app);
    const std::string block(4096, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())) && file.flush()) {
    }
  }
  void Free() { std::filesystem::remove(path() / "filler"); }

 private:
  std::filesystem::path path_;
  bool mounted_ = false;
};

}  // namespace waymark::tests
