// A test whose data is not on this machine says so and returns: if (!HaveData("cranfield")) return;
// The program lists what it skipped at its end.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace waymark::tests {

inline std::vector<std::string>& Skipped() {
  static std::vector<std::string> reasons;
  return reasons;
}

// The folder of real data sets: $WAYMARK_SHARED, else `shared` beside the checkout.
inline std::filesystem::path SharedData() {
  if (const char* given = std::getenv("WAYMARK_SHARED")) return std::filesystem::path(given) / "data";
  return std::filesystem::path(WAYMARK_SOURCE_DIR).parent_path() / "shared" / "data";
}

inline bool HaveData(const std::string& folder) {
  if (std::filesystem::exists(SharedData() / folder)) return true;
  Skipped().push_back("no data set '" + folder + "' in " + SharedData().string());
  return false;
}

}  // namespace waymark::tests
