#include <map>
#include <string>
#include <vector>

#include "index/bound_query.h"
#include "index/query_parser.h"
#include "index/snapshot_search.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/targets.h"

namespace waymark::fuzz {
namespace {

const std::vector<std::string> kTexts = {
    "Star Wars: the death star explodes",
    "A Star Trek film of wars among stars",
    "The lord of the rings, the two towers",
    "Spider-Man and the iron man",
    "Recieved letters; received again",
    "Café del mar, naïve façade, Straße",
    "東京物語 a story of Tokyo",
    "война и мир war and peace",
    "مرحبا بالعالم hello world",
    "C++ in 3.5mm, iPhone15, wi-fi",
    "deleted words that nobody may find star",
    "gen genre genres general generation",
};
constexpr DocNumber kDeleted = 10;

LiveSegment Compile(const Analyzer& analyzer, size_t first, size_t step) {
  std::map<std::string, std::map<DocNumber, std::vector<int32_t>>> postings;
  std::vector<ItemOrdinal> ordinals;
  std::vector<bool> deleted;
  for (size_t i = first; i < kTexts.size(); i += step) {
    TermList terms;
    analyzer.AnalyzeDocument(kTexts[i], 0, &terms);
    for (size_t t = 0; t < terms.size(); ++t) {
      postings[std::string(terms.term(t))][static_cast<DocNumber>(ordinals.size())].push_back(
          static_cast<int32_t>(terms.position(t)));
    }
    ordinals.push_back(static_cast<ItemOrdinal>(i));
    deleted.push_back(i == kDeleted);
  }
  CompiledSegmentBuilder builder("_" + std::to_string(first), {"title"}, ordinals);
  for (const auto& [term, documents] : postings) {
    builder.StartTerm(term);
    for (const auto& [doc, positions] : documents) builder.Add(doc, 0, positions);
  }
  auto compiled = builder.Finish();
  auto live = std::make_shared<LiveDocuments>(compiled, [&](DocNumber doc) { return deleted[doc]; });
  return {compiled, live};
}

std::shared_ptr<const IndexSnapshot> Snapshot(const AnalysisSettings& analysis) {
  const Analyzer analyzer(analysis);
  IndexedFields fields;
  fields.fields.push_back({"title", 1, true});
  return MakeSnapshot(analysis, fields, {Compile(analyzer, 0, 2), Compile(analyzer, 1, 2)}, Bm25Options(), 1,
                      nullptr);
}

// "title" is searched, "n" filtered.
class FuzzedFields : public QueryFields {
 public:
  bool Searched(std::string_view name) const override { return name == "title"; }
  bool Filtered(std::string_view name) const override { return name == "n"; }
  std::shared_ptr<const ItemSet> Passing(const std::string& filter) const override {
    if (filter.size() % 5 == 0) return nullptr;
    return std::make_shared<const ItemSet>(ItemSet::Of({0, 2, 5, 7}));
  }
};

size_t Depth(const QueryNode& node) {
  size_t deepest = 0;
  for (const auto* children : {&node.must, &node.should, &node.must_not}) {
    for (const QueryNode& child : *children) deepest = std::max(deepest, Depth(child));
  }
  return deepest + 1;
}

void CheckNode(const QueryNode& node, const ParsedQuery& query) {
  if (node.kind == QueryNode::Kind::kTerm) return Require(node.index < query.terms.size(), "terms are there");
  if (node.kind == QueryNode::Kind::kPhrase)
    return Require(node.index < query.phrases.size(), "phrases are there");
  if (node.kind != QueryNode::Kind::kGroup) return;
  Require(!node.must.empty() || !node.should.empty(), "a group asks for something");
  for (const auto* children : {&node.must, &node.should, &node.must_not, &node.also}) {
    for (const QueryNode& child : *children) CheckNode(child, query);
  }
}

void CheckParsed(const ParsedQuery& query) {
  Require(query.terms.size() <= kMaxQueryTerms, "at most kMaxQueryTerms terms");
  Require(query.readings.size() == query.terms.size() && query.term_times.size() == query.terms.size() &&
              query.asked.size() == query.terms.size() && query.phrase_times.size() == query.phrases.size(),
          "columns are as long as what they are of");
  for (const QueryPhrase& phrase : query.phrases) {
    Require(phrase.words.size() >= 2 || !phrase.others.empty(), "a phrase has two words, or two ways");
    for (const auto& word : phrase.words)
      Require(word.term < query.terms.size(), "words of phrases are terms");
  }
  if (!query.root) return;
  CheckNode(*query.root, query);
  // Each parenthesis, and the operators within, make at most some groups.
  Require(Depth(*query.root) <= size_t{kMaxQueryDepth} * 8 + 8,
          "parentheses beyond the limit are passed over");
}

}  // namespace

bool Query(const uint8_t* data, size_t size) {
  static const std::vector<std::shared_ptr<const IndexSnapshot>> snapshots = {
      Snapshot({StemmerKind::kPorter, true}), Snapshot({StemmerKind::kNone, false}),
      Snapshot({StemmerKind::kEnglish, true, AnalyzerKind::kStandard, "english"}),
      Snapshot({StemmerKind::kOfLanguage, false, AnalyzerKind::kStandard, "turkish"})};
  if (size < 1) return false;
  const bool match_all = data[0] & 1;
  const IndexSnapshot& snapshot = *snapshots[(data[0] >> 1 & 1) + (data[0] >> 6 & 2)];
  const auto typos = static_cast<TypoTolerance>((data[0] >> 2) % 3);
  const std::string text(reinterpret_cast<const char*>(data) + 1, std::min(size - 1, kMaxQueryBytes));
  CheckParsed(ParseQuery(text, snapshot.analyzer, match_all));

  const FuzzedFields fields;
  SnapshotQuery all{.text = text, .match_all = match_all, .typos = typos};
  all.fields = &fields;
  if (!match_all && (data[0] & 32) != 0) all.minimum = *MinimumMatch::Parse("60%");
  CheckParsed(ParseFor(snapshot, all));
  SnapshotQuery best = all;
  best.count_up_to = kCountNone;
  const KeywordHits counted = SearchSnapshot(snapshot, all, {}, 3, Deadline::Never());
  const KeywordHits quick = SearchSnapshot(snapshot, best, {}, 3, Deadline::Never());
  Require(counted.complete && quick.complete, "nothing is cut without a deadline");
  Require(counted.items.size() == std::min<size_t>(3, static_cast<size_t>(counted.total)),
          "hits as many as matches");
  Require(quick.items.size() == counted.items.size(), "every algorithm finds as many");
  for (size_t i = 0; i < quick.items.size(); ++i) {
    Require(quick.items[i].item == counted.items[i].item && quick.items[i].score == counted.items[i].score,
            "every algorithm finds the same");
    Require(quick.items[i].item != kDeleted, "deleted items are not found");
  }
  return counted.total > 0;
}

}  // namespace waymark::fuzz
