// Values by sequences of terms, looked up a term at a time: what phrases of synonyms and of rules are found
// by in a query. A look-up costs one hash for each term that it passes, however many sequences there are.
//
//   SequenceMap<Rule> map = SequenceMap<Rule>::Edit(old).Add({"run", "shoe"}, rule).Finish();
//   SequenceMap<Rule>::Walk walk(map);
//   if (walk.Step("run") && walk.Step("shoe")) walk.values();   // {rule}
//
// Value has an `id`, a text, in whose order the values of one sequence come.
//
// Immutable, cheap to copy; thread-safe. A changed map shares with the one before all shards that no change
// lies in, so that one write among many sequences costs little.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/types/span.h"

namespace waymark {

template <class Value>
class SequenceMap {
 public:
  using Values = std::vector<std::shared_ptr<const Value>>;

 private:
  struct Node {
    Values values;        // of the sequence that ends here
    uint32_t longer = 0;  // values of sequences that go on from here
  };
  using Shard = absl::flat_hash_map<std::string, Node>;  // by the terms, each with an end mark
  static constexpr size_t kShards = 1024;                // by the first term
  using Shards = std::array<std::shared_ptr<const Shard>, kShards>;

  static void Append(std::string_view term, std::string* key) {
    key->append(term);
    key->push_back('\0');  // in no term: it separates words
  }
  static size_t ShardOf(std::string_view first) { return absl::Hash<std::string_view>()(first) % kShards; }

 public:
  class Walk {
   public:
    explicit Walk(const SequenceMap& map) : map_(map) {}
    // False: no sequence goes on so; the walk has ended.
    bool Step(std::string_view term) {
      if (map_.shards_ == nullptr) return false;
      if (key_.empty()) shard_ = (*map_.shards_)[ShardOf(term)].get();
      Append(term, &key_);
      node_ = nullptr;
      if (shard_ == nullptr) return false;
      const auto found = shard_->find(key_);
      if (found == shard_->end()) return false;
      node_ = &found->second;
      return true;
    }
    // Of the terms so far; may be empty.
    const Values& values() const { return node_->values; }
    bool may_go_on() const { return node_->longer > 0; }

   private:
    const SequenceMap& map_;
    const Shard* shard_ = nullptr;
    const Node* node_ = nullptr;
    std::string key_;
  };

  class Edit {
   public:
    explicit Edit(const SequenceMap& from)
        : shards_(from.shards_ ? std::make_shared<Shards>(*from.shards_) : std::make_shared<Shards>()) {}

    // `terms` is not empty.
    Edit& Add(absl::Span<const std::string> terms, std::shared_ptr<const Value> value) {
      Shard& shard = Changed(terms[0]);
      std::string key;
      for (size_t i = 0; i + 1 < terms.size(); ++i) {
        Append(terms[i], &key);
        ++shard[key].longer;
      }
      Append(terms.back(), &key);
      Values& values = shard[key].values;
      values.insert(std::upper_bound(values.begin(), values.end(), value,
                                     [](const auto& a, const auto& b) { return a->id < b->id; }),
                    std::move(value));
      return *this;
    }
    // The value of this id, which has been added with these terms.
    Edit& Remove(absl::Span<const std::string> terms, std::string_view id) {
      Shard& shard = Changed(terms[0]);
      std::string key;
      for (const std::string& term : terms) Append(term, &key);
      const auto last = shard.find(key);
      if (last == shard.end()) return *this;
      Values& values = last->second.values;
      const auto value =
          std::find_if(values.begin(), values.end(), [&](const auto& v) { return v->id == id; });
      if (value == values.end()) return *this;
      values.erase(value);
      if (values.empty() && last->second.longer == 0) shard.erase(last);
      key.clear();
      for (size_t i = 0; i + 1 < terms.size(); ++i) {
        Append(terms[i], &key);
        const auto node = shard.find(key);
        if (--node->second.longer == 0 && node->second.values.empty()) shard.erase(node);
      }
      return *this;
    }
    SequenceMap Finish() {
      SequenceMap map;
      map.shards_ = std::move(shards_);
      return map;
    }

   private:
    Shard& Changed(std::string_view first) {
      const size_t number = ShardOf(first);
      if (own_[number] == nullptr) {
        const auto& before = (*shards_)[number];
        own_[number] = before ? std::make_shared<Shard>(*before) : std::make_shared<Shard>();
        (*shards_)[number] = own_[number];
      }
      return *own_[number];
    }

    std::shared_ptr<Shards> shards_;
    std::array<std::shared_ptr<Shard>, kShards> own_;  // those that are copied already
  };

 private:
  std::shared_ptr<const Shards> shards_;  // null: empty
};

}  // namespace waymark
