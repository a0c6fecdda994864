// A map that is changed by making a new one: both share all but the way to what differs, so that a change
// costs the logarithm of the size, and many in one edit no more than each by itself.
//
//   HashTrie<Node> next = HashTrie<Node>::Edit(map).Finish();
//   Edit edit(map);  edit.Get("key").count = 3;  map = edit.Finish();
//   map.Find("key")->count;   // 3
//
// Branches of 16 by four bits of the key's hash at a time; leaves of up to 16 entries.
//
// Immutable but for Edit, cheap to copy; thread-safe.
#pragma once
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"

namespace waymark {

template <class Value, class Hash = absl::Hash<std::string_view>>
class HashTrie {
  struct Entry {
    uint64_t hash = 0;
    uint64_t edit = 0;  // that made it, and may change it
    std::string key;
    Value value;
  };
  struct Node {
    uint64_t edit = 0;
    bool leaf = true;
    std::vector<std::shared_ptr<Entry>> entries;  // of a leaf
    std::vector<std::shared_ptr<Node>> branches;  // 16, of others
  };
  static constexpr size_t kMostEntries = 16;
  static constexpr int kBits = 4, kDeepest = 64 / kBits;

  static size_t BranchOf(uint64_t hash, int depth) { return hash >> (kBits * depth) & 15; }
  static uint64_t HashOf(std::string_view key) { return Hash()(key); }

 public:
  // Null: it is not there.
  const Value* Find(std::string_view key) const {
    const uint64_t hash = HashOf(key);
    const Node* node = root_.get();
    for (int depth = 0; node != nullptr && !node->leaf; ++depth) {
      node = node->branches[BranchOf(hash, depth)].get();
    }
    if (node == nullptr) return nullptr;
    for (const auto& entry : node->entries) {
      if (entry->hash == hash && entry->key == key) return &entry->value;
    }
    return nullptr;
  }

  // One thread.
  class Edit {
   public:
    explicit Edit(const HashTrie& from) : root_(from.root_), number_(NextNumber()) {}

    // Of the key; a new one where there is none.
    Value& Get(std::string_view key) {
      const uint64_t hash = HashOf(key);
      std::shared_ptr<Node>* place = &root_;
      int depth = 0;
      for (;; ++depth) {
        Own(place);
        Node& node = **place;
        if (node.leaf && node.entries.size() >= kMostEntries && depth < kDeepest && !Has(node, hash, key)) {
          Split(&node, depth);
        }
        if (node.leaf) break;
        place = &node.branches[BranchOf(hash, depth)];
      }
      Node& leaf = **place;
      for (std::shared_ptr<Entry>& entry : leaf.entries) {
        if (entry->hash != hash || entry->key != key) continue;
        if (entry->edit != number_) {
          entry = std::make_shared<Entry>(*entry);
          entry->edit = number_;
        }
        return entry->value;
      }
      leaf.entries.push_back(std::make_shared<Entry>(Entry{hash, number_, std::string(key), Value()}));
      return leaf.entries.back()->value;
    }
    // As the edit has left it; null: it is not there.
    const Value* Find(std::string_view key) const { return HashTrie(root_).Find(key); }
    void Erase(std::string_view key) {
      if (Find(key) == nullptr) return;
      const uint64_t hash = HashOf(key);
      std::shared_ptr<Node>* place = &root_;
      Own(place);
      for (int depth = 0; !(*place)->leaf; ++depth) {
        place = &(*place)->branches[BranchOf(hash, depth)];
        Own(place);
      }
      std::erase_if((*place)->entries,
                    [&](const auto& entry) { return entry->hash == hash && entry->key == key; });
    }
    HashTrie Finish() { return HashTrie(std::move(root_)); }

   private:
    static uint64_t NextNumber() {
      static std::atomic<uint64_t> last{0};
      return ++last;
    }
    static bool Has(const Node& leaf, uint64_t hash, std::string_view key) {
      return std::any_of(leaf.entries.begin(), leaf.entries.end(),
                         [&](const auto& entry) { return entry->hash == hash && entry->key == key; });
    }
    // What another map may see is copied first.
    void Own(std::shared_ptr<Node>* place) {
      if (*place != nullptr && (*place)->edit == number_) return;
      *place = *place == nullptr ? std::make_shared<Node>() : std::make_shared<Node>(**place);
      (*place)->edit = number_;
    }
    void Split(Node* node, int depth) {
      node->leaf = false;
      node->branches.resize(size_t{1} << kBits);
      for (std::shared_ptr<Entry>& entry : node->entries) {
        std::shared_ptr<Node>& branch = node->branches[BranchOf(entry->hash, depth)];
        if (branch == nullptr) Own(&branch);
        branch->entries.push_back(std::move(entry));
      }
      node->entries.clear();
      node->entries.shrink_to_fit();
    }

    std::shared_ptr<Node> root_;
    const uint64_t number_;
  };

  HashTrie() = default;

 private:
  explicit HashTrie(std::shared_ptr<Node> root) : root_(std::move(root)) {}

  std::shared_ptr<Node> root_;  // null: empty
};

}  // namespace waymark
