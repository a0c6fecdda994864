// Files of rows made by hand, in a folder of their own that goes away with the object.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "store/rows/json_struct.h"
#include "store/rows/row_reader.h"
#include "tests/support/catch.h"

namespace waymark::tests {

class RowFiles {
 public:
  RowFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "waymark-rows-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~RowFiles() { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }

 private:
  std::filesystem::path folder_;
};

// Each row as «LINE {json}» or «LINE refused: why».
inline std::vector<std::string> ReadAll(const std::string& path, const RowOptions& options) {
  auto reader = RowReader::Open(path, options);
  if (!reader.ok()) return {"open: " + std::string(reader.status().message())};
  std::vector<std::string> rows;
  Row row;
  while (true) {
    auto more = (*reader)->Next(&row);
    if (!more.ok()) {
      rows.push_back("failed: " + std::string(more.status().message()));
      return rows;
    }
    if (!*more) return rows;
    const std::string line = std::to_string(row.line);
    rows.push_back(row.refusal.empty() ? line + " " + JsonText(row.fields)
                                       : line + " refused: " + row.refusal);
  }
}

using Rows = std::vector<std::string>;

}  // namespace waymark::tests
