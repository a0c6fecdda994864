// How well misspelled words are corrected, and how fast: pairs of a misspelling and what was meant, over the
// words of 36,273 films, of those whose right word the films have and that are one or two edits away.
//
//   build/release/bin/spelling ../shared/data
//
// A pair counts as corrected where the right word is among the first 5. Times are of one thread, without the
// index's cache.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "index/compiled_segment.h"
#include "index/letters.h"
#include "index/word_segmenter.h"
#include "index/word_variants.h"
#include "tests/catalog/movies.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFirst = 5;

struct Pair {
  std::string wrong, right;
};

bool OneWord(const std::string& text) {
  int words = 0;
  SegmentWords(text, [&](std::string_view word) { words += word == text ? 1 : 2; });
  return words == 1;
}

std::vector<Pair> ReadPairs(const fs::path& folder) {
  std::set<std::pair<std::string, std::string>> pairs;
  std::string line;
  std::ifstream msmarco(folder / "msmarco-misspell.txt");
  while (std::getline(msmarco, line)) {
    const std::vector<std::string> sides = absl::StrSplit(line, " => ");
    if (sides.size() == 2) {
      pairs.emplace(absl::StripAsciiWhitespace(sides[0]), absl::StripAsciiWhitespace(sides[1]));
    }
  }
  std::ifstream codespell(folder / "codespell-dictionary.txt");
  while (std::getline(codespell, line)) {
    const std::vector<std::string> sides = absl::StrSplit(line, "->");
    if (sides.size() == 2 && sides[1].find(',') == std::string::npos) pairs.emplace(sides[0], sides[1]);
  }
  std::ifstream wikipedia(folder / "wikipedia-misspellings.json");
  const nlohmann::json misspellings = nlohmann::json::parse(wikipedia);
  for (const auto& [wrong, right] : misspellings.items()) pairs.emplace(wrong, right);
  std::vector<Pair> words;
  for (const auto& [wrong, right] : pairs) {
    if (OneWord(wrong) && OneWord(right)) words.push_back({wrong, right});
  }
  return words;
}

// Words of the films with the number of films that have them, as one segment.
SegmentView ReadVocabulary() {
  std::map<std::string, std::vector<DocNumber>> postings;
  DocNumber films = 0;
  tests::ForEachWikipediaMovie([&](const google::protobuf::Struct& fields) {
    for (const auto& [name, value] : fields.fields()) {
      SegmentWords(value.string_value(), [&](std::string_view word) {
        std::vector<DocNumber>& documents = postings[std::string(word)];
        if (documents.empty() || documents.back() != films) documents.push_back(films);
      });
    }
    ++films;
  });
  std::vector<ItemOrdinal> ordinals(films);
  for (DocNumber doc = 0; doc < films; ++doc) ordinals[doc] = doc;
  CompiledSegmentBuilder builder("_0", {"text"}, std::move(ordinals));
  for (const auto& [word, documents] : postings) {
    builder.StartTerm(word);
    for (DocNumber doc : documents) builder.Add(doc, 0, {1});
  }
  SegmentView view;
  view.postings = builder.Finish();
  view.live = std::make_shared<LiveDocuments>(view.postings, [](DocNumber) { return false; });
  return view;
}

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())))];
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: spelling SHARED_DATA\n");
    return 2;
  }
  const std::vector<Pair> pairs = ReadPairs(fs::path(argv[1]) / "spelling");
  const SegmentView vocabulary = ReadVocabulary();
  std::printf("%zu pairs of single words; %zu words in %u films\n", pairs.size(),
              vocabulary.postings->term_count(), vocabulary.postings->doc_count());
  struct Tally {
    size_t pairs = 0, corrected = 0;
    std::vector<double> milliseconds;
  };
  std::map<std::string, Tally> tallies;
  for (const Pair& pair : pairs) {
    if (!vocabulary.postings->FindTerm(pair.right) || vocabulary.postings->FindTerm(pair.wrong)) continue;
    const int distance = EditDistance(Letters(pair.wrong), Letters(pair.right));
    if (distance > 2) continue;
    const absl::Time start = absl::Now();
    // As searches do: two edits only where one finds too few.
    WordVariants found = FindTypos({&vocabulary, 1}, pair.wrong, {1, true, kFirst}, Deadline::Never());
    if (found.words.size() < kFirst) {
      found = FindTypos({&vocabulary, 1}, pair.wrong, {2, true, kFirst}, Deadline::Never());
    }
    const double time = absl::ToDoubleMilliseconds(absl::Now() - start);
    const bool corrected = std::any_of(found.words.begin(), found.words.end(),
                                       [&](const WordVariant& word) { return word.term == pair.right; });
    for (const std::string& name : {std::string("all"), distance == 1 ? std::string("1 edit") : "2 edits"}) {
      ++tallies[name].pairs;
      tallies[name].corrected += corrected;
      tallies[name].milliseconds.push_back(time);
    }
  }
  for (const auto& [name, tally] : tallies) {
    std::printf(
        "%-8s %6zu pairs  right word among the first %zu: %.2f %%  median %.3f ms  p95 %.3f  p99 %.3f\n",
        name.c_str(), tally.pairs, kFirst,
        100.0 * static_cast<double>(tally.corrected) / static_cast<double>(tally.pairs),
        Quantile(tally.milliseconds, .5), Quantile(tally.milliseconds, .95),
        Quantile(tally.milliseconds, .99));
  }
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
