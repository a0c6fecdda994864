// How a table of which parameters are where is written.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace waymark {

struct PlacementLine {
  std::string name, shape, where;
  int64_t numbers;                        // of one tensor
  int first_block = -1, last_block = -1;  // of tensors of blocks that lie alike
};

std::string GroupedDigits(int64_t number);  // 1,234,567

// Lines, without one at the end.
std::string PlacementText(const std::string& title, const std::vector<PlacementLine>& lines);

}  // namespace waymark
