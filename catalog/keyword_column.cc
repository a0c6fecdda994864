#include "catalog/keyword_column.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

uint64_t FoldedHash(const std::string& text) {
  const std::string folded = FoldCase(text);
  return XXH3_64bits(folded.data(), folded.size());
}

bool Has(absl::Span<const TermNumber> terms, TermNumber term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

}  // namespace

void KeywordColumn::Set(ItemOrdinal item, absl::Span<const std::string> terms) {
  absl::InlinedVector<TermNumber, 8> before(Terms(item).begin(), Terms(item).end()), now;
  for (const std::string& text : terms) {
    const TermNumber term = Intern(text);
    if (Has(now, term)) continue;
    now.push_back(term);
    if (!Has(before, term)) AddItem(term, item);
  }
  for (const TermNumber term : before) {
    if (!Has(now, term)) RemoveItem(term, item);
  }
  if (before.empty() && now.empty()) return;
  SetSlot(item, now);
  if (now.empty()) {
    present_.remove(item);
  } else if (before.empty()) {
    present_.add(item);
  }
}

absl::Span<const TermNumber> KeywordColumn::Terms(ItemOrdinal item) const {
  if (item >= slots_.size() || slots_[item] == kNoTerm) return {};
  const uint32_t& slot = slots_[item];
  if ((slot & kMany) == 0) return absl::MakeConstSpan(&slot, 1);
  return lists_[slot & ~kMany];
}

std::optional<TermNumber> KeywordColumn::Find(const std::string& text) const {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return std::nullopt;
  return found->second;
}

std::vector<TermNumber> KeywordColumn::FindFolded(const std::string& text) const {
  std::vector<TermNumber> found;
  const auto numbers = by_folded_.find(FoldedHash(text));
  if (numbers == by_folded_.end()) return found;
  const std::string folded = FoldCase(text);
  for (const TermNumber term : numbers->second) {
    if (FoldCase(terms_[term].text) == folded) found.push_back(term);
  }
  return found;
}

std::vector<TermNumber> KeywordColumn::FindPath(std::string_view path, std::string_view separator) const {
  std::vector<TermNumber> found;
  const auto exact = by_order_.find(path);
  if (exact != by_order_.end()) found.push_back(*exact);
  const std::string below = absl::StrCat(std::string(path), std::string(separator));
  for (auto at = by_order_.lower_bound(std::string_view(below)); at != by_order_.end(); ++at) {
    if (!absl::StartsWith(TextOf(*at), below)) break;
    found.push_back(*at);
  }
  return found;
}

uint64_t KeywordColumn::CountOf(TermNumber term) const {
  const Term& held = terms_[term];
  if (held.items) return held.items->cardinality();
  return held.only == kNoItem ? 0 : 1;
}

uint64_t KeywordColumn::CountAmong(TermNumber term, const Bitmap& items) const {
  const Term& held = terms_[term];
  if (held.items) return held.items->and_cardinality(items);
  return held.only != kNoItem && items.contains(held.only) ? 1 : 0;
}

void KeywordColumn::AddItemsOf(TermNumber term, Bitmap* items) const {
  const Term& held = terms_[term];
  if (held.items) {
    *items |= *held.items;
  } else if (held.only != kNoItem) {
    items->add(held.only);
  }
}

TermNumber KeywordColumn::Intern(const std::string& text) {
  const auto [place, is_new] = by_text_.try_emplace(text, static_cast<TermNumber>(terms_.size()));
  if (is_new) {
    terms_.push_back(Term{text});
    // Where they come in order, as from a file, they are put to the end without being compared.
    by_order_.insert(by_order_.end(), place->second);
    by_folded_[FoldedHash(text)].push_back(place->second);
  }
  return place->second;
}

void KeywordColumn::AddItem(TermNumber number, ItemOrdinal item) {
  Term& term = terms_[number];
  if (term.items) {
    term.items->add(item);
  } else if (term.only == kNoItem) {
    term.only = item;
  } else {
    term.items = std::make_unique<Bitmap>();
    term.items->add(term.only);
    term.items->add(item);
    term.only = kNoItem;
  }
}

void KeywordColumn::RemoveItem(TermNumber number, ItemOrdinal item) {
  Term& term = terms_[number];
  if (term.items) {
    term.items->remove(item);
    if (!term.items->isEmpty()) return;
    term.items.reset();
  }
  term.only = kNoItem;
  by_text_.erase(term.text);
  by_order_.erase(number);
  const auto folded = by_folded_.find(FoldedHash(term.text));
  if (folded != by_folded_.end()) {
    auto& numbers = folded->second;
    numbers.erase(std::remove(numbers.begin(), numbers.end(), number), numbers.end());
    if (numbers.empty()) by_folded_.erase(folded);
  }
  std::string().swap(term.text);
}

void KeywordColumn::SetSlot(ItemOrdinal item, absl::Span<const TermNumber> terms) {
  if (item >= slots_.size()) slots_.resize(size_t{item} + 1, kNoTerm);
  uint32_t& slot = slots_[item];
  if (slot != kNoTerm && (slot & kMany) != 0) {
    const uint32_t list = slot & ~kMany;
    if (terms.size() > 1) {
      lists_[list].assign(terms.begin(), terms.end());
      return;
    }
    std::vector<TermNumber>().swap(lists_[list]);
    free_lists_.push_back(list);
  }
  if (terms.empty()) {
    slot = kNoTerm;
  } else if (terms.size() == 1) {
    slot = terms[0];
  } else {
    uint32_t list = static_cast<uint32_t>(lists_.size());
    if (free_lists_.empty()) {
      lists_.emplace_back();
    } else {
      list = free_lists_.back();
      free_lists_.pop_back();
    }
    lists_[list].assign(terms.begin(), terms.end());
    slot = kMany | list;
  }
}

bool KeywordColumn::IndexAgrees() const {
  std::vector<uint64_t> counts(terms_.size());
  size_t items = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    const auto item = static_cast<ItemOrdinal>(i);
    const absl::Span<const TermNumber> terms = Terms(item);
    if (terms.empty() == present_.contains(item)) return false;
    items += !terms.empty();
    for (const TermNumber number : terms) {
      if (number >= terms_.size()) return false;
      const Term& term = terms_[number];
      if (term.items ? !term.items->contains(item) : term.only != item) return false;
      ++counts[number];
    }
  }
  size_t held = 0;
  for (TermNumber number = 0; number < terms_.size(); ++number) {
    const Term& term = terms_[number];
    if (CountOf(number) != counts[number]) return false;
    if (term.text.empty()) continue;
    ++held;
    if (Find(term.text) != number) return false;
    const auto at = by_order_.find(number);
    if (at == by_order_.end() || *at != number) return false;
  }
  return held == by_order_.size() && items == present_.cardinality();
}

size_t KeywordColumn::memory_bytes() const {
  size_t bytes = slots_.capacity() * sizeof(uint32_t) + terms_.capacity() * sizeof(Term) +
                 present_.getSizeInBytes(false);
  for (const Term& term : terms_) {
    // Its text, the map's copy of it, and its entries in both maps and in the order.
    bytes += 2 * (term.text.size() > 15 ? term.text.size() + 16 : 0) + sizeof(std::string) + 53;
    if (term.items) bytes += term.items->getSizeInBytes(false);
  }
  for (const auto& list : lists_) bytes += sizeof(list) + list.capacity() * sizeof(TermNumber);
  return bytes;
}

void KeywordColumn::Write(ByteWriter* out) const {
  // In the order of their texts. Terms that nobody has any more are left out, so numbers are given anew.
  std::vector<TermNumber> renumbered(terms_.size(), kNoTerm);
  uint32_t kept = 0;
  out->Put(static_cast<uint32_t>(by_order_.size()));
  for (const TermNumber term : by_order_) {
    renumbered[term] = kept++;
    out->PutText(terms_[term].text);
  }
  std::vector<uint32_t> counts(slots_.size());
  std::vector<TermNumber> all;
  for (size_t item = 0; item < slots_.size(); ++item) {
    const auto terms = Terms(static_cast<ItemOrdinal>(item));
    counts[item] = static_cast<uint32_t>(terms.size());
    for (const TermNumber term : terms) all.push_back(renumbered[term]);
  }
  out->PutArray(counts);
  out->PutArray(all);
}

bool KeywordColumn::Read(ByteReader* in, size_t end) {
  uint32_t count = 0;
  if (!in->Get(&count) || count > in->left() / sizeof(uint32_t)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    std::string text;
    if (!in->GetText(&text) || text.empty() || Intern(text) != i) return false;
  }
  std::vector<uint32_t> counts;
  std::vector<TermNumber> all;
  if (!in->GetArray(&counts) || !in->GetArray(&all) || counts.size() > end) return false;
  size_t next = 0;
  for (size_t item = 0; item < counts.size(); ++item) {
    if (counts[item] > all.size() - next) return false;
    const absl::Span<const TermNumber> terms = absl::MakeConstSpan(all).subspan(next, counts[item]);
    next += counts[item];
    if (terms.empty()) continue;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (terms[i] >= count || Has(terms.first(i), terms[i])) return false;
      AddItem(terms[i], static_cast<ItemOrdinal>(item));
    }
    SetSlot(static_cast<ItemOrdinal>(item), terms);
    present_.add(static_cast<uint32_t>(item));
  }
  return next == all.size();
}

}  // namespace waymark
