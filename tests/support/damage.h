// Damages files, as disks do.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace waymark::tests {

struct Damage {
  bool cut = false;  // else: one bit of one byte turned over
  uintmax_t at = 0;
};

// 64 places spread over a file, each turned over, and the file cut there.
inline std::vector<Damage> SpreadDamages(uintmax_t size) {
  std::vector<Damage> damages;
  for (uintmax_t i = 0; i < 64 && size > 0; ++i) {
    const uintmax_t at = size <= 64 ? i % size : i * (size - 1) / 63;
    damages.push_back({false, at});
    damages.push_back({true, at});
  }
  return damages;
}

inline void Apply(const Damage& damage, const std::filesystem::path& file) {
  if (damage.cut) return std::filesystem::resize_file(file, damage.at);
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(static_cast<std::streamoff>(damage.at));
  const char byte = static_cast<char>(bytes.get() ^ (1 << (damage.at % 8)));
  bytes.seekp(static_cast<std::streamoff>(damage.at));
  bytes.put(byte);
}

// Every file below the folder, by its path in it.
inline std::vector<std::string> FilesBelow(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(folder).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline void CopyOver(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::remove_all(to);
  std::filesystem::create_directories(to.parent_path());
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

}  // namespace waymark::tests
