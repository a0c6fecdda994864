// Texts that can be completed, immutable: every beginning of a word of every text, in sorted order, with the
// best entries of each stretch of that order kept in a tree. So "the best ten of all that begin so" is two
// binary searches and a walk down the tree that looks at a few hundred nodes, whether ten texts begin so or a
// million.
//
//   auto list = CompletionList::Build({{"Star Wars", 5, 7}, {"The Star", 9, 8}});
//   CompletionRange range = list->BeginningWith("sta");
//   BestFirst best(*list, {&range, 1});
//   best.Next();   // of "Star Wars": what begins a text counts four times
//
// An entry is a text with the items that have it; its weight is that of its heaviest item. Entries are
// numbered by weight (the heaviest first), then by length, then by text. A word inside of a text counts
// log2(1 + weight), the beginning of a text 2 more.
//
// Thread-safe. Memory: 8 bytes for each word's beginning, one or two for the trees over it, and the
// texts twice (as they are, and folded).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "recommend/checked_file.h"
#include "store/ids.h"
#include "suggest/prefix_tree.h"

namespace waymark {

inline constexpr size_t kMaxCompletionBytes = 500;  // longer texts are not completed

struct CompletionSource {
  std::string text;
  float weight = 0;  // 0 or more
  ItemOrdinal item = kNoItem;
};

using CompletionEntry = uint32_t;

// Of the sorted beginnings.
struct CompletionRange {
  size_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

class CompletionList {
 public:
  // Texts without words, and texts that are too long, are left out. Null: `stop` said so.
  static std::shared_ptr<const CompletionList> Build(std::vector<CompletionSource> sources,
                                                     absl::FunctionRef<bool()> stop);
  static std::shared_ptr<const CompletionList> Build(std::vector<CompletionSource> sources) {
    return Build(std::move(sources), [] { return false; });
  }

  size_t entry_count() const { return weights_.size(); }
  std::string_view text(CompletionEntry e) const {
    return {text_.data() + text_begin_[e], text_begin_[e + 1] - text_begin_[e]};
  }
  std::string_view folded(CompletionEntry e) const {
    return {folded_.data() + folded_begin_[e], folded_begin_[e + 1] - folded_begin_[e] - 1};
  }
  float weight(CompletionEntry e) const { return weights_[e]; }
  // Heaviest first, ties by ordinal.
  absl::Span<const ItemOrdinal> items(CompletionEntry e) const {
    return absl::MakeConstSpan(items_).subspan(items_begin_[e], items_begin_[e + 1] - items_begin_[e]);
  }

  // --- the sorted beginnings
  size_t size() const { return at_.size(); }
  // From the beginning to the end of its text.
  std::string_view beginning(size_t i) const;
  CompletionEntry entry(size_t i) const { return entries_[i] & ~kStart; }
  bool starts_text(size_t i) const { return (entries_[i] & kStart) != 0; }
  // Bytes of the folded text before the beginning.
  size_t place(size_t i) const { return at_[i] - folded_begin_[entry(i)]; }
  CompletionRange all() const { return {0, size()}; }
  CompletionRange BeginningWith(std::string_view folded) const;
  // Of equal beginnings those that start their text come first.
  size_t LowerBound(std::string_view folded) const;

  // Of the beginnings; it tells nothing of what is below its leaves.
  const PrefixTree& prefixes() const { return prefixes_; }

  double Score(CompletionEntry e, bool start) const;

  // Bytes by part.
  struct Memory {
    size_t texts = 0, folded = 0, beginnings = 0, trees = 0, items = 0;
    size_t sum() const { return texts + folded + beginnings + trees + items; }
  };
  Memory memory() const;

  void Save(CheckedWriter* writer) const;
  // DATA_LOSS: what is read is no list, whatever its checksum says.
  static absl::StatusOr<std::shared_ptr<const CompletionList>> Load(CheckedReader* reader);

 private:
  friend class BestFirst;
  static constexpr uint32_t kStart = 0x80000000u;
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  static constexpr size_t kFanout = 16;
  // The best entry below a node among beginnings of texts, and among others; kNone: there is none.
  struct Node {
    uint32_t start = kNone, inner = kNone;
  };

  CompletionList() = default;
  void MakeTrees();
  Node Leaf(size_t i) const;
  bool Consistent() const;

  std::string text_, folded_;  // folded texts end with a zero byte each
  std::vector<uint32_t> text_begin_, folded_begin_, items_begin_;
  std::vector<ItemOrdinal> items_;
  std::vector<float> weights_;
  std::vector<uint32_t> at_, entries_;
  std::vector<std::vector<Node>> levels_;  // levels_[0]: of kFanout beginnings each
  PrefixTree prefixes_;
};

// The entries of some ranges, best first: by Score, then beginnings of texts, then by number. An entry comes
// once for each of its beginnings that lies there.
class BestFirst {
 public:
  BestFirst(const CompletionList& list, absl::Span<const CompletionRange> ranges);
  // A beginning's place in the sorted order; none: that was all.
  std::optional<size_t> Next();

 private:
  struct Open {
    double score;
    CompletionEntry entry;
    bool start;
    uint8_t level;  // 0: one beginning
    uint32_t index;
    bool operator<(const Open& other) const;  // is worse
  };
  void Push(size_t level, size_t index);

  const CompletionList& list_;
  std::vector<Open> heap_;
};

}  // namespace waymark
