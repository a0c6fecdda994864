// Synonyms as queries look them up: analysed, by the words that people type.
//
//   auto group = MakeSynonymGroup("s1", {"sneakers", "running shoes"}, {}, {}, "", analyzer);
//   SynonymTable table = SynonymTable().With({}, {*group});
//   ParseQuery("running shoes", analyzer, false, &view).synonyms[0].others;   // sneakers
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "index/analyzer.h"
#include "index/sequence_map.h"

namespace waymark {

// One word or several.
struct SynonymPhrase {
  std::string text;  // as the operator wrote it
  std::vector<std::string> terms;
  std::vector<uint32_t> offsets;  // [terms]: places in the phrase, from 0; stop words leave gaps
};

struct SynonymGroup {
  std::string id, language;
  std::vector<SynonymPhrase> typed;   // what people type
  std::vector<SynonymPhrase> others;  // what also counts; empty: two-way, the others of `typed`
  const std::vector<SynonymPhrase>& targets() const { return others.empty() ? typed : others; }
};

// Phrases that analyse to nothing, or to what an earlier one does, are left out. Two-way: `words`; else from
// `from` to `to`.
struct SynonymTexts {
  absl::Span<const std::string> words, from, to;
};
std::shared_ptr<const SynonymGroup> MakeSynonymGroup(std::string id, std::string language,
                                                     const SynonymTexts& texts, const Analyzer& analyzer);
SynonymPhrase AnalysePhrase(std::string_view text, const Analyzer& analyzer);

// Whether a group of this language counts in this locale: "en" does in "en-GB", and "" everywhere.
bool LanguageCounts(std::string_view language, std::string_view locale);

// Immutable, cheap to copy; thread-safe.
class SynonymTable {
 public:
  using Groups = absl::Span<const std::shared_ptr<const SynonymGroup>>;
  // Without the groups `removed` (by their ids and the words that they were added with), and with `added`.
  SynonymTable With(Groups removed, Groups added) const;

  using Walk = SequenceMap<SynonymGroup>::Walk;
  Walk Start() const { return Walk(map_); }

 private:
  SequenceMap<SynonymGroup> map_;
};

// What one request sees of synonyms.
struct SynonymView {
  SynonymTable table;
  std::string locale;  // of the request; empty: unknown
};

// A group that widened a query.
struct SynonymUse {
  std::string id;
  std::string typed;                // words of the query
  std::vector<std::string> others;  // as the operator wrote them
  bool operator==(const SynonymUse&) const = default;
};

}  // namespace waymark
