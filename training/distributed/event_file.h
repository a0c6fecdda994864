// Scalars for TensorBoard: an events.out.tfevents file in a folder.
//
//   EventFile events;
//   absl::Status opened = events.Open("runs/beauty");
//   events.Add(step, {{"loss", 6.1}});
//
// One thread. An error of writing is kept and told by Close: watching is never worth stopping for.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace waymark {

class EventFile {
 public:
  absl::Status Open(const std::filesystem::path& folder);
  void Add(int64_t step, const std::vector<std::pair<std::string, double>>& values);
  absl::Status Close();

 private:
  std::ofstream out_;
  std::filesystem::path file_;
};

}  // namespace waymark
