// The terms of one KEYWORD field: a dictionary, also in the order of its texts, each item's terms in the
// item's order, and for each term the items that have it, all changed in place.
//
//   column.Set(7, {"Drama", "Comedy"});
//   std::optional<TermNumber> drama = column.Find("Drama");
//   column.AddItemsOf(*drama, &bitmap);
//
// A term that no item has any more gives its text back; its number is not used again.
// Not thread-safe: the catalog's lock guards it. For catalog/ alone.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "catalog/column_bytes.h"
#include "catalog/item_set_impl.h"

namespace waymark {

using TermNumber = uint32_t;

class KeywordColumn {
 public:
  KeywordColumn() : by_order_(ByText{&terms_}) {}
  KeywordColumn(const KeywordColumn&) = delete;

  // Replaces the item's terms (not empty); those that come twice count once.
  void Set(ItemOrdinal item, absl::Span<const std::string> terms);

  absl::Span<const TermNumber> Terms(ItemOrdinal item) const;
  std::string Text(TermNumber term) const { return term < terms_.size() ? terms_[term].text : std::string(); }
  // Terms are numbered below this; some may have no item any more. `term` must be one of them.
  TermNumber term_end() const { return static_cast<TermNumber>(terms_.size()); }
  const std::string& TextOf(TermNumber term) const { return terms_[term].text; }
  std::optional<TermNumber> Find(const std::string& text) const;
  // Terms that equal `text` when case is left out of account.
  std::vector<TermNumber> FindFolded(const std::string& text) const;

  // Terms that are `path`, or begin with it and the separator, in the order of their texts.
  std::vector<TermNumber> FindPath(std::string_view path, std::string_view separator) const;

  const Bitmap& present() const { return present_; }
  uint64_t CountOf(TermNumber term) const;
  uint64_t CountAmong(TermNumber term, const Bitmap& items) const;
  void AddItemsOf(TermNumber term, Bitmap* items) const;

  // Whether each term's items are those that hold it, and terms are found by text and order.
  bool IndexAgrees() const;
  size_t memory_bytes() const;  // about

  void Write(ByteWriter* out) const;
  bool Read(ByteReader* in, size_t end);

 private:
  // Most terms of fields like links and names belong to one item: no bitmap for those.
  struct Term {
    std::string text;
    ItemOrdinal only = kNoItem;
    std::unique_ptr<Bitmap> items;
  };
  struct ByText {
    using is_transparent = void;
    const std::vector<Term>* terms;
    std::string_view Text(TermNumber term) const { return (*terms)[term].text; }
    static std::string_view Text(std::string_view text) { return text; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return Text(a) < Text(b);
    }
  };
  // A slot is kNoTerm, one term's number, or kMany with the place of a list.
  static constexpr uint32_t kNoTerm = 0xFFFFFFFFu, kMany = 0x80000000u;

  TermNumber Intern(const std::string& text);
  void AddItem(TermNumber term, ItemOrdinal item);
  void RemoveItem(TermNumber term, ItemOrdinal item);
  void SetSlot(ItemOrdinal item, absl::Span<const TermNumber> terms);

  std::vector<Term> terms_;
  absl::flat_hash_map<std::string, TermNumber> by_text_;
  absl::btree_set<TermNumber, ByText> by_order_;
  // By XXH3 of the folded text; looked up terms are compared again.
  absl::flat_hash_map<uint64_t, absl::InlinedVector<TermNumber, 1>> by_folded_;
  std::vector<uint32_t> slots_;  // [ordinal]
  std::vector<std::vector<TermNumber>> lists_;
  std::vector<uint32_t> free_lists_;
  Bitmap present_;
};

}  // namespace waymark
