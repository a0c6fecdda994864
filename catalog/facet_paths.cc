#include "catalog/facet_paths.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "catalog/filter_value.h"

namespace waymark {
namespace {

constexpr size_t kItemsPerPathLook = 1 << 13;

// The paths of the terms that occur, found when a term is first met.
class PathTree {
 public:
  using Nodes = absl::InlinedVector<uint32_t, 6>;
  struct Node {
    std::string path;
    std::string label;
    int depth = 0;        // parts
    uint32_t parent = 0;  // kRoot: at the first level that is asked for
    int64_t count = 0;
  };
  static constexpr uint32_t kRoot = 0xFFFFFFFFu;

  PathTree(const FacetSpec::Hierarchy& asked, const KeywordColumn& column)
      : asked_(asked), column_(column), known_(column.term_end()) {}

  // From the first level that is asked for to one level below the last: empty for terms elsewhere.
  const Nodes& Of(TermNumber term) {
    if (known_[term] == nullptr) known_[term] = std::make_unique<Nodes>(Find(column_.TextOf(term)));
    return *known_[term];
  }
  std::vector<Node>& nodes() { return nodes_; }
  // The deepest level that is listed.
  int last_depth() const { return first_depth() + asked_.depth - 1; }

 private:
  int first_depth() const {
    if (asked_.prefix.empty()) return 1;
    int parts = 1;
    for (size_t at = asked_.prefix.find(asked_.separator); at != std::string::npos;
         at = asked_.prefix.find(asked_.separator, at + asked_.separator.size())) {
      ++parts;
    }
    return parts + 1;
  }

  Nodes Find(const std::string& text) {
    Nodes found;
    size_t from = 0;
    int depth = 1;
    if (!asked_.prefix.empty()) {
      const std::string below = asked_.prefix + asked_.separator;
      if (text.substr(0, below.size()) != below) return found;
      from = below.size();
      depth = first_depth();
    }
    uint32_t parent = kRoot;
    // One level more than is listed, to say how many there are.
    for (const int end = last_depth() + 1; depth <= end; ++depth) {
      const size_t stop = text.find(asked_.separator, from);
      parent = Intern(text.substr(0, stop), text.substr(from, stop == std::string::npos ? stop : stop - from),
                      depth, parent);
      found.push_back(parent);
      if (stop == std::string::npos) break;
      from = stop + asked_.separator.size();
    }
    return found;
  }

  uint32_t Intern(std::string path, std::string label, int depth, uint32_t parent) {
    const auto [place, is_new] = by_path_.try_emplace(path, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({std::move(path), std::move(label), depth, parent, 0});
    return place->second;
  }

  const FacetSpec::Hierarchy& asked_;
  const KeywordColumn& column_;
  std::vector<std::unique_ptr<Nodes>> known_;  // [term]
  std::vector<Node> nodes_;
  absl::flat_hash_map<std::string, uint32_t> by_path_;
};

// Parents before children, siblings by count, ties by path; the first `limit` of each parent.
void List(const std::vector<PathTree::Node>& nodes,
          const absl::flat_hash_map<uint32_t, std::vector<uint32_t>>& below, uint32_t parent, int last_depth,
          const Facet& facet, FacetCounts* out) {
  const auto children = below.find(parent);
  if (children == below.end()) return;
  for (size_t i = 0; i < std::min<size_t>(children->second.size(), static_cast<size_t>(facet.spec.limit));
       ++i) {
    const PathTree::Node& node = nodes[children->second[i]];
    if (node.depth > last_depth) return;
    const auto grandchildren = below.find(children->second[i]);
    out->paths.push_back(
        {node.path, node.label, node.depth, node.count,
         PathFilter(facet.field, node.path, facet.spec.hierarchy->separator),
         grandchildren == below.end() ? 0 : static_cast<int64_t>(grandchildren->second.size())});
    List(nodes, below, children->second[i], last_depth, facet, out);
  }
}

}  // namespace

bool CountPaths(const Facet& facet, const Bitmap& items, const KeywordColumn& column,
                absl::FunctionRef<bool()> expired, FacetCounts* out) {
  PathTree tree(*facet.spec.hierarchy, column);
  PathTree::Nodes held;
  size_t since = 0;
  for (const uint32_t item : items) {
    if (++since == kItemsPerPathLook) {
      since = 0;
      if (expired()) return false;
    }
    held.clear();
    const absl::Span<const TermNumber> terms = column.Terms(item);
    for (const TermNumber term : terms) {
      const PathTree::Nodes& nodes = tree.Of(term);
      held.insert(held.end(), nodes.begin(), nodes.end());
    }
    if (terms.size() > 1) {
      std::sort(held.begin(), held.end());
      held.erase(std::unique(held.begin(), held.end()), held.end());
    }
    for (const uint32_t node : held) ++tree.nodes()[node].count;
  }
  const std::vector<PathTree::Node>& nodes = tree.nodes();
  absl::flat_hash_map<uint32_t, std::vector<uint32_t>> below;
  for (uint32_t i = 0; i < nodes.size(); ++i) below[nodes[i].parent].push_back(i);
  for (auto& [parent, children] : below) {
    std::sort(children.begin(), children.end(), [&](uint32_t a, uint32_t b) {
      return nodes[a].count != nodes[b].count ? nodes[a].count > nodes[b].count
                                              : nodes[a].path < nodes[b].path;
    });
  }
  for (const PathTree::Node& node : nodes) out->distinct += node.depth <= tree.last_depth();
  List(nodes, below, PathTree::kRoot, tree.last_depth(), facet, out);
  return true;
}

}  // namespace waymark
