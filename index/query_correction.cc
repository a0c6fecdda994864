#include "index/query_correction.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "index/indexed_fields.h"
#include "index/letters.h"
#include "index/posting_block.h"
#include "index/word_split.h"

namespace waymark {
namespace {

// That a word is looked up in, and bytes of each of their texts.
constexpr size_t kItems = 8, kTextBytes = 16 << 10;

std::vector<ItemOrdinal> SomeItemsWith(const IndexSnapshot& snapshot, std::string_view term) {
  std::vector<ItemOrdinal> items;
  for (const SegmentView& segment : snapshot.segments) {
    const auto found = segment.postings->FindTerm(term);
    if (!found) continue;
    PostingBlockReader reader(*segment.postings, *found);
    for (size_t block = 0; block < reader.block_count(); ++block) {
      for (DocNumber doc : reader.ReadDocuments(block)) {
        if (items.size() == kItems) return items;
        if (segment.live->Contains(doc)) items.push_back(segment.postings->ordinal(doc));
      }
    }
  }
  return items;
}

class SpokenWords {
 public:
  SpokenWords(const IndexSnapshot& snapshot, std::string_view term) : snapshot_(snapshot), term_(term) {}

  void Read(const storage::ItemRecord& item) {
    for (const IndexedField& field : snapshot_.fields.fields) {
      const auto value = item.fields().fields().find(field.name);
      if (value == item.fields().fields().end()) continue;
      ForEachText(value->second, [&](std::string_view text) {
        snapshot_.analyzers.Of(field.name)
            .ForEachWord(text.substr(0, kTextBytes), [&](const AnalysedWord& word) {
              if (!word.stop && word.term == term_) ++times_[std::string(word.word)];
            });
      });
    }
  }

  // The term itself where no item has it any more.
  std::string Nearest(std::string_view typed) const {
    const std::u32string letters = Letters(typed);
    std::string best(term_);
    auto least = std::tuple(1 << 20, 0);  // edits, minus times
    for (const auto& [word, times] : times_) {
      const auto rank = std::tuple(EditDistance(letters, Letters(word)), -times);
      if (rank < least) least = rank, best = word;
    }
    return best;
  }

 private:
  const IndexSnapshot& snapshot_;
  const std::string_view term_;
  std::map<std::string, int> times_;
};

}  // namespace

std::string CorrectedQuery(std::string_view text, const BoundQuery& bound, const IndexSnapshot& snapshot,
                           const Store& store, Scope scope) {
  std::unordered_map<std::string, std::string> meant;  // by term
  for (const Correction& correction : bound.corrections) {
    const std::string& typed = bound.query.readings[correction.term].typed;
    if (correction.meant.find(' ') != std::string::npos) {
      const auto split = SplitAsTyped(snapshot.analyzers.groups()[0], typed, correction.meant);
      if (split) meant[bound.query.terms[correction.term]] = *split;
      continue;
    }
    SpokenWords words(snapshot, correction.meant);
    for (const auto& item : store.GetItems(scope, SomeItemsWith(snapshot, correction.meant))) {
      if (item) words.Read(*item);
    }
    meant[bound.query.terms[correction.term]] = words.Nearest(typed);
  }
  if (meant.empty()) return {};
  std::string corrected;
  size_t copied = 0;
  snapshot.analyzers.groups()[0].ForEachWord(text, [&](const AnalysedWord& word) {
    const auto found = meant.find(std::string(word.term));
    if (word.stop || found == meant.end() || word.begin < copied) return;
    corrected.append(text.substr(copied, word.begin - copied)).append(found->second);
    copied = word.end;
  });
  return corrected.append(text.substr(copied));
}

}  // namespace waymark
