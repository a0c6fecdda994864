#include "suggest/prefix_tree.h"

#include "index/letters.h"

namespace waymark {
namespace {

constexpr uint32_t kWhole = 64;  // texts of which no tree is made
constexpr int kDeepest = 16;     // letters

}  // namespace

PrefixTree::PrefixTree(size_t size, absl::FunctionRef<std::string_view(size_t)> text) : nodes_(1) {
  nodes_[0].end = static_cast<uint32_t>(size);
  size_t level_begin = 0;
  std::vector<uint32_t> bytes = {0};  // of the prefixes of this level
  for (int depth = 0; depth < kDeepest && level_begin < nodes_.size(); ++depth) {
    const size_t level_end = nodes_.size();
    std::vector<uint32_t> next_bytes;
    for (size_t n = level_begin; n < level_end; ++n) {
      const Node node = nodes_[n];
      if (node.end - node.begin <= kWhole) continue;
      const uint32_t prefix = bytes[n - level_begin];
      const auto first = static_cast<uint32_t>(nodes_.size());
      for (uint32_t i = node.begin; i < node.end;) {
        const std::string_view here = text(i);
        if (here.size() == prefix) {  // it ends here
          ++i;
          continue;
        }
        size_t behind = prefix;
        const char32_t letter = ReadLetter(here, &behind);
        const std::string_view with = here.substr(0, behind);
        uint32_t low = i + 1, high = node.end;
        while (low < high) {
          const uint32_t middle = low + (high - low) / 2;
          if (text(middle).substr(0, behind) == with) {
            low = middle + 1;
          } else {
            high = middle;
          }
        }
        nodes_.push_back({letter, i, low, 0, 0});
        next_bytes.push_back(static_cast<uint32_t>(behind));
        i = low;
      }
      nodes_[n].first_child = first;
      nodes_[n].children = static_cast<uint32_t>(nodes_.size()) - first;
    }
    level_begin = level_end;
    bytes = std::move(next_bytes);
  }
  nodes_.shrink_to_fit();
}

}  // namespace waymark
