#include "catalog/nearest_name.h"

#include <algorithm>

#include "catalog/field_value.h"

namespace waymark {
namespace {

constexpr size_t kLongestCompared = 64;

size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string NearestName(std::string_view name, const std::vector<std::string_view>& known) {
  if (name.size() > kLongestCompared) return "";
  const std::string folded = FoldCase(name);
  size_t nearest = std::max<size_t>(1, name.size() / 3) + 1;
  std::string found;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongestCompared) continue;
    const size_t distance = Distance(folded, FoldCase(candidate));
    if (distance < nearest) {
      nearest = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace waymark
