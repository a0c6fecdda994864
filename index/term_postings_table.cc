#include "index/term_postings_table.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "index/varint.h"

namespace waymark {
namespace {

// Bytes that a slice holds; behind them lies where the next one begins.
constexpr uint32_t kFirstSlice = 8, kLastLevel = 9, kLinkBytes = sizeof(uint32_t);
constexpr uint32_t SliceBytes(uint32_t level) { return kFirstSlice << std::min(level, kLastLevel); }

constexpr size_t kFirstSlots = 1024, kFirstArena = size_t{1} << 20;

uint32_t TermHash(std::string_view text) {
  return static_cast<uint32_t>(XXH3_64bits(text.data(), text.size()) >> 32);
}

}  // namespace

void TermPostingsTable::Add(uint32_t field_number, DocNumber doc, const TermList& terms) {
  if (field_number >= fields_.size()) fields_.resize(field_number + 1);
  Field& field = fields_[field_number];
  const size_t count = terms.size();
  if (field.slots.empty()) GrowSlots(&field);
  // Hashes first, so that the reads of the table wait for memory side by side.
  hashes_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    hashes_[i] = TermHash(terms.term(i));
    __builtin_prefetch(&field.slots[hashes_[i] & (field.slots.size() - 1)]);
  }
  for (size_t i = 0; i < count; ++i) {
    if ((field.terms.size() + 1) * 2 > field.slots.size()) GrowSlots(&field);
    AddPlace(&FindOrAdd(&field, hashes_[i], terms.term(i)), doc, terms.position(i));
  }
}

TermPostingsTable::Term& TermPostingsTable::FindOrAdd(Field* field, uint32_t hash, std::string_view text) {
  const size_t mask = field->slots.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    Slot& slot = field->slots[i];
    if (slot.term_and_one == 0) {
      slot = {hash, static_cast<uint32_t>(field->terms.size() + 1)};
      return AddTerm(field, hash, text);
    }
    if (slot.hash != hash) continue;
    Term& term = field->terms[slot.term_and_one - 1];
    if (Text(term) == text) return term;
  }
}

TermPostingsTable::Term& TermPostingsTable::AddTerm(Field* field, uint32_t hash, std::string_view text) {
  const uint32_t at = Allocate(text.size() + kFirstSlice + kLinkBytes);
  std::memcpy(arena_.data() + at, text.data(), text.size());
  Term term{};
  term.text = at;
  term.text_size = static_cast<uint32_t>(text.size());
  term.hash = hash;
  term.first = term.next = at + static_cast<uint32_t>(text.size());
  term.end = term.first + kFirstSlice;
  index_bytes_ += sizeof(Term) + 2 * sizeof(Slot);
  return field->terms.emplace_back(term);
}

void TermPostingsTable::AddPlace(Term* term, DocNumber doc, uint32_t position) {
  std::array<uint8_t, 2 * kLongestVarint> bytes;
  uint8_t* end = bytes.data();
  if (doc != term->last_doc) {
    const uint32_t gap = doc - term->last_doc - 1;  // kNoDoc is -1
    end = WriteVarint(position, WriteVarint(uint64_t{gap} << 1 | 1, end));
  } else {
    end = WriteVarint(uint64_t{position - term->last_position} << 1, end);
  }
  term->last_doc = doc;
  term->last_position = position;
  const auto size = static_cast<size_t>(end - bytes.data());
  if (size <= sizeof(uint64_t) && term->end - term->next >= sizeof(uint64_t)) {
    std::memcpy(arena_.data() + term->next, bytes.data(), sizeof(uint64_t));  // one store
    term->next += static_cast<uint32_t>(size);
  } else {
    AppendOverSlices(term, bytes.data(), size);
  }
}

void TermPostingsTable::AppendOverSlices(Term* term, const uint8_t* bytes, size_t size) {
  for (const uint8_t* end = bytes + size; bytes != end; ++bytes) {
    if (term->next == term->end) {
      term->level = std::min<uint32_t>(term->level + 1, kLastLevel);
      const uint32_t slice = Allocate(SliceBytes(term->level) + kLinkBytes);
      std::memcpy(arena_.data() + term->end, &slice, kLinkBytes);
      term->next = slice;
      term->end = slice + SliceBytes(term->level);
    }
    arena_[term->next++] = *bytes;
  }
}

uint32_t TermPostingsTable::Allocate(size_t bytes) {
  if (arena_.size() - used_ < bytes) arena_.resize(std::max({2 * arena_.size(), used_ + bytes, kFirstArena}));
  const size_t at = used_;
  used_ += bytes;
  return static_cast<uint32_t>(at);
}

void TermPostingsTable::GrowSlots(Field* field) {
  field->slots.assign(std::max(2 * field->slots.size(), kFirstSlots), Slot{0, 0});
  const size_t mask = field->slots.size() - 1;
  for (uint32_t t = 0; t < field->terms.size(); ++t) {
    size_t i = field->terms[t].hash & mask;
    while (field->slots[i].term_and_one != 0) i = (i + 1) & mask;
    field->slots[i] = {field->terms[t].hash, t + 1};
  }
}

std::vector<uint32_t> TermPostingsTable::SortedTerms(uint32_t field) const {
  struct Key {
    uint64_t beginning;  // of the term
    uint32_t t;
  };
  const auto& terms = fields_[field].terms;
  std::vector<Key> keys(terms.size());
  for (uint32_t t = 0; t < terms.size(); ++t) keys[t] = {TermKey(Text(terms[t])), t};
  std::sort(keys.begin(), keys.end(), [&](const Key& a, const Key& b) {
    if (a.beginning != b.beginning) return a.beginning < b.beginning;
    return Text(terms[a.t]) < Text(terms[b.t]);
  });
  std::vector<uint32_t> sorted(terms.size());
  for (size_t i = 0; i < keys.size(); ++i) sorted[i] = keys[i].t;
  return sorted;
}

void TermPostingsTable::ReadPostings(uint32_t field, uint32_t t, std::vector<uint8_t>* bytes) const {
  const Term& term = fields_[field].terms[t];
  bytes->clear();
  uint32_t slice = term.first;
  for (uint32_t level = 0;; ++level) {
    const uint32_t end = slice + SliceBytes(level);
    const bool last = end == term.end;
    bytes->insert(bytes->end(), arena_.begin() + slice, arena_.begin() + (last ? term.next : end));
    if (last) return;
    std::memcpy(&slice, arena_.data() + end, kLinkBytes);
  }
}

void TermPostingsTable::Clear() {
  used_ = index_bytes_ = 0;
  for (Field& field : fields_) {
    std::fill(field.slots.begin(), field.slots.end(), Slot{0, 0});
    field.terms.clear();
  }
}

}  // namespace waymark
