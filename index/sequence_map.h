// Values by sequences of terms, looked up a term at a time: what phrases of synonyms and of rules are found
// by in a query. A look-up costs one hash for each term that it passes, however many sequences there are.
//
//   SequenceMap<Rule> map = SequenceMap<Rule>::Edit(old).Add({"run", "shoe"}, rule).Finish();
//   SequenceMap<Rule>::Walk walk(map);
//   if (walk.Step("run") && walk.Step("shoe")) walk.values();   // {rule}
//
// Value has an `id`, a text, in whose order the values of one sequence come.
//
// Immutable, cheap to copy; thread-safe. A changed map shares with the one before all that no change touches
// (index/hash_trie.h), so that a write costs what it changes and not the sequences that there are.
#pragma once
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "index/hash_trie.h"

namespace waymark {

template <class Value, class Hash = absl::Hash<std::string_view>>
class SequenceMap {
 public:
  using Values = std::vector<std::shared_ptr<const Value>>;

 private:
  struct Node {
    Values values;        // of the sequence that ends here
    uint32_t longer = 0;  // values of sequences that go on from here
  };
  using Nodes = HashTrie<Node, Hash>;  // by the terms, each with an end mark

  static void Append(std::string_view term, std::string* key) {
    key->append(term);
    key->push_back('\0');  // in no term: it separates words
  }

 public:
  class Walk {
   public:
    explicit Walk(const SequenceMap& map) : map_(map) {}
    // False: no sequence goes on so; the walk has ended.
    bool Step(std::string_view term) {
      Append(term, &key_);
      node_ = map_.nodes_.Find(key_);
      return node_ != nullptr;
    }
    // Of the terms so far; may be empty.
    const Values& values() const { return node_->values; }
    bool may_go_on() const { return node_->longer > 0; }

   private:
    const SequenceMap& map_;
    const Node* node_ = nullptr;
    std::string key_;
  };

  class Edit {
   public:
    explicit Edit(const SequenceMap& from) : nodes_(from.nodes_) {}

    // `terms` is not empty.
    Edit& Add(absl::Span<const std::string> terms, std::shared_ptr<const Value> value) {
      std::string key;
      for (size_t i = 0; i + 1 < terms.size(); ++i) {
        Append(terms[i], &key);
        ++nodes_.Get(key).longer;
      }
      Append(terms.back(), &key);
      Values& values = nodes_.Get(key).values;
      values.insert(std::upper_bound(values.begin(), values.end(), value,
                                     [](const auto& a, const auto& b) { return a->id < b->id; }),
                    std::move(value));
      return *this;
    }
    // The value of this id, which has been added with these terms.
    Edit& Remove(absl::Span<const std::string> terms, std::string_view id) {
      std::string key;
      for (const std::string& term : terms) Append(term, &key);
      const Node* last = nodes_.Find(key);
      if (last == nullptr) return *this;
      const auto is_it = [&](const auto& value) { return value->id == id; };
      if (std::none_of(last->values.begin(), last->values.end(), is_it)) return *this;
      Values& values = nodes_.Get(key).values;
      values.erase(std::find_if(values.begin(), values.end(), is_it));
      EraseEmpty(key);
      key.clear();
      for (size_t i = 0; i + 1 < terms.size(); ++i) {
        Append(terms[i], &key);
        --nodes_.Get(key).longer;
        EraseEmpty(key);
      }
      return *this;
    }
    SequenceMap Finish() {
      SequenceMap map;
      map.nodes_ = nodes_.Finish();
      return map;
    }

   private:
    void EraseEmpty(const std::string& key) {
      const Node* node = nodes_.Find(key);
      if (node->values.empty() && node->longer == 0) nodes_.Erase(key);
    }

    typename Nodes::Edit nodes_;
  };

 private:
  Nodes nodes_;
};

}  // namespace waymark
