// Random documents as a bulk load takes them, and what segments hold of documents, term by term.
#pragma once
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "index/lucene_segments.h"
#include "index/posting_cursor.h"

namespace waymark::tests {

struct BulkDocument {
  ItemOrdinal item;
  std::vector<FieldTerms> fields;
};

// Words of one to four bytes a letter, one that all texts hold, one that has no letters, exact forms; two at
// one position; gaps. Some documents lack fields, some have none.
inline BulkDocument RandomBulkDocument(std::mt19937* random, ItemOrdinal item) {
  static const std::array<std::string, 5> kAlphabets = {"w", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9D\x92\x9C",
                                                        "\x01w"};
  const auto pick = [&](unsigned end) { return static_cast<uint32_t>((*random)() % end); };
  BulkDocument document{item, {}};
  for (const char* name : {"title", "text", "a"}) {
    if (pick(4) == 0) continue;
    FieldTerms field{name, {}};
    uint32_t position = 0;
    field.terms.Add("all", position);
    for (uint32_t words = pick(20); words > 0; --words) {
      position += pick(8) == 0 ? 0 : pick(30) == 0 ? 100'000 : 1 + pick(3);
      const uint32_t word = pick(40) * pick(40) / (1 + pick(4));
      field.terms.Add(word == 1 ? "" : absl::StrCat(kAlphabets[word % 5], word), position);
    }
    document.fields.push_back(std::move(field));
  }
  return document;
}

// (field, position, term), each as often as it is there, by item.
using BulkContents = std::map<ItemOrdinal, std::multiset<std::tuple<std::string, uint32_t, std::string>>>;

inline void SetContents(const BulkDocument& document, BulkContents* contents) {
  auto& places = (*contents)[document.item];
  places.clear();
  for (const FieldTerms& field : document.fields) {
    for (size_t i = 0; i < field.terms.size(); ++i) {
      places.emplace(field.field, field.terms.position(i), std::string(field.terms.term(i)));
    }
  }
}

inline void AddContents(const CompiledSegment& segment, const LiveDocuments* live, BulkContents* contents) {
  const auto lives = [&](DocNumber doc) { return live == nullptr || live->Contains(doc); };
  for (DocNumber doc = 0; doc < segment.doc_count(); ++doc) {
    if (lives(doc)) (*contents)[segment.ordinal(doc)];
  }
  for (TermIndex t = 0; t < segment.term_count(); ++t) {
    PostingCursor cursor(segment, t);
    for (DocNumber doc = cursor.Advance(0); doc != kNoDoc; doc = cursor.Advance(doc + 1)) {
      if (!lives(doc)) continue;
      for (size_t entry = 0; entry < cursor.entries().size(); ++entry) {
        for (uint32_t position : cursor.Positions(entry)) {
          (*contents)[segment.ordinal(doc)].emplace(segment.fields()[cursor.entries()[entry].field], position,
                                                    std::string(segment.term(t)));
        }
      }
    }
  }
}

inline std::string BytesOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::set<std::string> NamesIn(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

}  // namespace waymark::tests
