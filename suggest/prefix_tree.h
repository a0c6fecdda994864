// The first letters of sorted texts as a tree: for each prefix that many texts share the stretch of texts
// that begin so, and the letters that follow. A walk over prefixes that may differ in any letter then steps
// from child to child instead of searching through all texts.
//
//   PrefixTree tree(texts.size(), [&](size_t i) { return texts[i]; });
//   for (const PrefixTree::Node& child : tree.Children(tree.root())) ...   // by letter
//
// A prefix has children where more than 64 texts begin so, and to a depth of 16 letters. Immutable;
// thread-safe.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace waymark {

class PrefixTree {
 public:
  struct Node {
    char32_t letter = 0;          // the last one of the prefix
    uint32_t begin = 0, end = 0;  // texts that begin with it
    uint32_t first_child = 0, children = 0;
  };

  PrefixTree() : nodes_(1) {}
  // text(i): the i-th of sorted texts, UTF-8.
  PrefixTree(size_t size, absl::FunctionRef<std::string_view(size_t)> text);

  const Node& root() const { return nodes_[0]; }
  // By letter; none: the node has not been taken apart.
  absl::Span<const Node> Children(const Node& node) const {
    return absl::MakeConstSpan(nodes_).subspan(node.first_child, node.children);
  }
  size_t memory_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  std::vector<Node> nodes_;  // level by level
};

}  // namespace waymark
