#include "training/distributed/mesh/placement_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace waymark {
namespace {

std::string NameOf(const PlacementLine& line) {
  if (line.first_block < 0) return line.name;
  if (line.first_block == line.last_block) return absl::StrCat("blocks.", line.first_block, ".", line.name);
  return absl::StrCat("blocks.", line.first_block, "-", line.last_block, ".", line.name);
}

}  // namespace

std::string GroupedDigits(int64_t number) {
  const std::string digits = absl::StrCat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string PlacementText(const std::string& title, const std::vector<PlacementLine>& lines) {
  int name_width = 9, shape_width = 5;
  for (const PlacementLine& line : lines) {
    name_width = std::max(name_width, static_cast<int>(NameOf(line).size()));
    shape_width = std::max(shape_width, static_cast<int>(line.shape.size()));
  }
  std::string text = absl::StrFormat("%s\n  %-*s  %-*s  %12s  %s", title, name_width, "parameter",
                                     shape_width, "shape", "numbers", "where");
  for (const PlacementLine& line : lines) {
    absl::StrAppendFormat(&text, "\n  %-*s  %-*s  %12s  %s", name_width, NameOf(line), shape_width,
                          line.shape, GroupedDigits(line.numbers * (line.last_block - line.first_block + 1)),
                          line.where);
  }
  return text;
}

}  // namespace waymark
