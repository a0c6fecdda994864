// Every algorithm against brute force: the same items, with the same scores to the bit, in the same order.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "index/compiled_segment.h"
#include "index/conjunction.h"
#include "index/exhaustive_search.h"
#include "index/max_score.h"
#include "index/phrase_search.h"
#include "index/snapshot_search.h"
#include "tests/index/brute_force_search.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

std::string RandomText(RandomCorpus* corpus) {
  std::string text;
  const size_t fields = corpus->snapshot->fields.fields.size();
  const unsigned kind = corpus->random() % 12, words = 1 + corpus->random() % 6;
  if (kind == 0 || kind == 8) {
    text = "\"" + corpus->Text();
    for (unsigned i = corpus->random() % 2 + 1; i > 0; --i) text += " " + corpus->Text();
    text += "\"";
    if (kind == 8) absl::StrAppend(&text, "~", 1 + corpus->random() % 7, corpus->random() % 2 ? "^2.5" : "");
    return text;
  }
  if (kind == 1) {
    return "(" + corpus->Text() + " OR \"" + corpus->Text() + " " + corpus->Text() + "\") AND " +
           corpus->Text();
  }
  for (unsigned i = 0; i < words; ++i) {
    const unsigned pick = corpus->random() % 4;
    // Words alone; with some wanted; with some excluded.
    text += kind == 2 && pick < 3    ? "+"
            : kind == 3 && pick == 0 ? "-"
            : kind == 4 && pick < 2  ? (pick ? "+" : "-")
                                     : "";
    // In one field; between bounds of what is filtered.
    if (kind == 9 && pick < 2) absl::StrAppend(&text, "f", corpus->random() % fields, ":");
    if (kind == 10 && pick == 0) absl::StrAppend(&text, "n:", corpus->random() % 2000, "..4000 ");
    text += corpus->Text();
    // With misspelled words and beginnings.
    const bool marked = kind == 7 || (kind > 8 && pick == 3);
    if (marked) text += std::vector<std::string>{"~1", "~2", "*", ""}[corpus->random() % 4];
    if (kind == 11) absl::StrAppend(&text, "^", 1 + corpus->random() % 40, ".5");
    text += " ";
  }
  return text;
}

// "f0", "f1", ... are searched; "n:100..4000" keeps items by their numbers.
class TestFields : public QueryFields {
 public:
  explicit TestFields(size_t fields) : fields_(fields) {}
  bool Searched(std::string_view name) const override {
    return name.size() == 2 && name[0] == 'f' && static_cast<size_t>(name[1] - '0') < fields_;
  }
  bool Filtered(std::string_view name) const override { return name == "n"; }
  std::shared_ptr<const ItemSet> Passing(const std::string& filter) const override {
    std::vector<ItemOrdinal> items;
    for (int item = std::stoi(filter.substr(4)); item <= 4000; ++item) {
      items.push_back(static_cast<ItemOrdinal>(item));
    }
    return std::make_shared<const ItemSet>(ItemSet::Of(items));
  }

 private:
  const size_t fields_;
};

struct Tally {
  std::map<std::string, int> runs;
};

template <SegmentAlgorithm A>
void Compare(const char* name, const RandomCorpus& corpus, const BoundQuery& bound,
             const SnapshotQuery& query, size_t limit, const Hits& expected, Tally* tally) {
  HitCollector hits(query, limit, Deadline::Never());
  if (!A::Serves(bound, hits)) return;
  ++tally->runs[name];
  INFO(name << ": " << std::string(query.text) << ", the best " << limit);
  for (const SegmentView& segment : corpus.snapshot->segments) {
    hits.Enter(segment);
    REQUIRE(A::Run(bound, segment, &hits));
  }
  const auto total = static_cast<int64_t>(expected.size());
  // What is known before a search is told to it by SearchSnapshot, of which a test is below.
  if (total <= query.count_up_to) REQUIRE(hits.saw_all());
  if (hits.saw_all() || (std::is_same_v<A, MaxScore> && MaxScore::KnowsTotal(bound, hits))) {
    REQUIRE(hits.seen() == total);
  } else {
    REQUIRE(hits.seen() <= total);
    REQUIRE(hits.seen() >= static_cast<int64_t>(std::min(limit, expected.size())));
  }
  const Hits best = hits.top().Take();
  REQUIRE(best.size() == std::min(limit, expected.size()));
  for (size_t i = 0; i < best.size(); ++i) {
    INFO("place " << i);
    REQUIRE(best[i].first == expected[i].first);
    REQUIRE(best[i].second == expected[i].second);
  }
}

// Of "w1": itself, "w", "wN" and "w1N" within so many edits that are insertions, deletions and replacements
// of digits behind the "w".
bool WithinEdits(int a, int b, int edits) {
  const std::string x = std::to_string(a), y = std::to_string(b);
  if (x == y) return true;
  if (edits >= 2) return true;  // numbers have two digits at most
  if (x.size() == 1 && y.size() == 1) return true;
  if (x.size() != y.size()) return x.find(y) != x.npos || y.find(x) != y.npos;
  return x[0] == y[0] || x[1] == y[1] || (x[0] == y[1] && x[1] == y[0]);
}

TEST_CASE("a word stands for what is within its errors, or what it begins, and for nothing else") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    RandomCorpus corpus(seed);
    std::set<int> held;
    for (const auto& segment : corpus.segments) {
      for (const RandomDocument& document : segment) {
        for (int word = 0; word < 64 && !document.deleted; ++word) {
          if (document.holds >> word & 1) held.insert(word);
        }
      }
    }
    for (int word = 0; word < 70; ++word) {
      for (const std::string mark : {"~1", "~2", "*"}) {
        std::set<int> expected, found;
        for (int other : held) {
          const bool stands = mark == "*" ? std::to_string(other).starts_with(std::to_string(word))
                                          : WithinEdits(word, other, mark[1] - '0');
          if (stands) expected.insert(other);
        }
        const std::string text = absl::StrCat("w", word, mark);
        const BoundQuery bound = BindQuery(ParseQuery(text, corpus.snapshot->analyzer, false),
                                           *corpus.snapshot, Bm25Options(), Deadline::Never());
        for (const BoundVariant& variant : bound.variants[0]) found.insert(WordOf(variant.term));
        INFO(text);
        REQUIRE(bound.variants[0].size() == std::min<size_t>(expected.size(), 50));
        if (expected.size() <= 50) REQUIRE((found == expected));
      }
    }
  }
}

TEST_CASE("every algorithm gives what brute force does, over 10,000 random queries") {
  Tally tally;
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomCorpus corpus(seed);
    for (int i = 0; i < 200; ++i) {
      const std::string text = RandomText(&corpus);
      SnapshotQuery query{text};
      query.match_all = corpus.random() % 5 == 0;
      query.count_up_to =
          std::vector<int64_t>{kCountAll, kCountAll, kCountNone, 1, 20, 300}[corpus.random() % 6];
      std::vector<ItemOrdinal> allowed, excluded;
      for (ItemOrdinal item = 0; item < 8000; ++item) {
        if (corpus.random() % 3 == 0) allowed.push_back(item);
        if (corpus.random() % 9 == 0) excluded.push_back(item);
      }
      const ItemSet allowed_set = ItemSet::Of(allowed);
      if (corpus.random() % 4 == 0) query.allowed = &allowed_set;
      if (corpus.random() % 4 == 0) query.excluded = excluded;
      const TestFields fields(corpus.snapshot->fields.fields.size());
      query.fields = &fields;
      query.typos = TypoTolerance::kOff;
      const char* minima[] = {"", "", "", "2", "60%", "-1"};
      if (!query.match_all) query.minimum = *MinimumMatch::Parse(minima[corpus.random() % 6]);
      if (corpus.random() % 2 == 0) query.left_out = {text.substr(0, text.find(' '))};
      const BoundQuery bound =
          BindQuery(ParseFor(*corpus.snapshot, query), *corpus.snapshot, Bm25Options(), Deadline::Never());
      if (!bound.query.root) continue;
      // Phrases that are written otherwise in other fields have tests of their own.
      if (std::any_of(bound.query.phrases.begin(), bound.query.phrases.end(),
                      [](const QueryPhrase& phrase) { return !phrase.others.empty(); })) {
        continue;
      }
      bool several = false;
      for (size_t t = 0; t < bound.query.terms.size(); ++t) several = several || bound.StandsForSeveral(t);
      if (several && bound.flat) {
        const HitCollector hits(query, 1, Deadline::Never());
        tally.runs["MaxScore of several"] += MaxScore::Serves(bound, hits);
        tally.runs["Conjunction of several"] += Conjunction::Serves(bound, hits);
      }
      tally.runs["analyses"] += corpus.snapshot->analyzers.groups().size() > 1;
      tally.runs["slop"] += !bound.query.phrases.empty() && bound.query.phrases[0].slop > 0;
      tally.runs["field"] += bound.query.scopes.size() > 1;
      tally.runs["condition"] += !bound.query.items.empty();
      tally.runs["minimum"] += bound.query.root->minimum > 1;
      tally.runs["left out"] += bound.query.root->also_apart;
      const Hits expected = BruteForce(corpus, bound, query);
      const size_t limit = std::vector<size_t>{1, 3, 10, 50, 101, 1000}[corpus.random() % 6];
      Compare<MaxScore>("MaxScore", corpus, bound, query, limit, expected, &tally);
      Compare<Conjunction>("Conjunction", corpus, bound, query, limit, expected, &tally);
      Compare<PhraseSearch>("PhraseSearch", corpus, bound, query, limit, expected, &tally);
      Compare<ExhaustiveSearch>("ExhaustiveSearch", corpus, bound, query, limit, expected, &tally);
    }
  }
  for (const char* name : {"MaxScore", "Conjunction", "PhraseSearch", "slop", "field", "condition", "minimum",
                           "left out", "MaxScore of several", "Conjunction of several", "analyses"}) {
    INFO(name);
    CHECK(tally.runs[name] > 400);
  }
  CHECK(tally.runs["ExhaustiveSearch"] > 9500);
}

TEST_CASE("totals are exact up to what is asked, else less than all that match, and the best are the same") {
  Tally tally;
  for (unsigned seed = 100; seed < 120; ++seed) {
    RandomCorpus corpus(seed);
    for (int i = 0; i < 100; ++i) {
      const std::string text = RandomText(&corpus);
      const TestFields fields(corpus.snapshot->fields.fields.size());
      SnapshotQuery query{text};
      query.fields = &fields;
      query.typos = TypoTolerance::kOff;
      std::vector<ItemOrdinal> allowed;
      for (ItemOrdinal item = 0; item < 8000; item += 1 + corpus.random() % 3) allowed.push_back(item);
      const ItemSet allowed_set = ItemSet::Of(allowed);
      if (corpus.random() % 3 == 0) query.allowed = &allowed_set;
      const BoundQuery bound =
          BindQuery(ParseFor(*corpus.snapshot, query), *corpus.snapshot, Bm25Options(), Deadline::Never());
      if (!bound.query.root || std::any_of(bound.query.phrases.begin(), bound.query.phrases.end(),
                                           [](const QueryPhrase& p) { return !p.others.empty(); })) {
        continue;
      }
      const Hits expected = BruteForce(corpus, bound, query);
      const auto total = static_cast<int64_t>(expected.size());
      for (const int64_t limit :
           {kCountNone, int64_t{1}, total - 1, total, total + 1, int64_t{50}, kCountAll}) {
        if (limit < 0) continue;
        query.count_up_to = limit;
        const KeywordHits hits = SearchSnapshot(*corpus.snapshot, query, Bm25Options(), 5, Deadline::Never());
        INFO(text << ", counted up to " << limit << ", matches " << total);
        REQUIRE(hits.total <= total);
        if (hits.total_exact) REQUIRE(hits.total == total);
        if (total <= limit) REQUIRE(hits.total_exact);
        if (total > limit) REQUIRE(hits.total > limit);
        ++tally.runs[hits.total_exact ? "exact" : hits.total < total ? "fewer" : "all"];
        REQUIRE(hits.items.size() == std::min<size_t>(5, expected.size()));
        for (size_t place = 0; place < hits.items.size(); ++place) {
          REQUIRE(hits.items[place].item == expected[place].second);
          REQUIRE(hits.items[place].score == bound.Score(expected[place].first));
        }
      }
    }
  }
  CHECK(tally.runs["exact"] > 2000);
  CHECK(tally.runs["fewer"] > 500);
}

// One segment of 70,000 documents; `early`: those that score best come first, so that what a search guesses
// from its first documents is too much.
std::shared_ptr<const IndexSnapshot> LongSegment(bool early) {
  constexpr DocNumber kDocuments = 70'000;
  std::mt19937 random(5);
  std::vector<ItemOrdinal> ordinals(kDocuments);
  for (DocNumber doc = 0; doc < kDocuments; ++doc) ordinals[doc] = doc;
  CompiledSegmentBuilder builder("_0", {"f0"}, ordinals);
  for (unsigned word = 1; word <= 5; ++word) {
    builder.StartTerm(absl::StrCat("w", word));
    for (DocNumber doc = 0; doc < kDocuments; ++doc) {
      if (random() % (word * word) != 0) continue;
      const bool rich = early ? doc < 3000 : random() % 10 == 0;
      std::vector<int32_t> positions;
      for (int32_t i = 0; i < (rich ? 1 + static_cast<int32_t>(random() % 9) : 1); ++i)
        positions.push_back(i);
      builder.Add(doc, 0, positions);
    }
  }
  const auto compiled = builder.Finish();
  auto live = std::make_shared<LiveDocuments>(compiled, [](DocNumber doc) { return doc % 7 == 3; });
  IndexedFields fields;
  fields.fields.push_back({"f0", 1, true});
  return MakeSnapshot({StemmerKind::kNone, false}, fields, {{compiled, live}}, Bm25Options(), 1, nullptr);
}

TEST_CASE("a guess of what a document needs costs no result, even where it is wrong") {
  for (bool early : {false, true}) {
    const auto snapshot = LongSegment(early);
    for (const char* text : {"w1", "w5", "w1 w2", "w2 w3 w5", "w1 w2 w3 w4 w5", "w2 w4 -w3"}) {
      for (size_t limit : {1, 10, 200, 1000, 5000}) {
        SnapshotQuery query{text};
        query.count_up_to = kCountNone;
        const BoundQuery bound = BindQuery(ParseQuery(text, snapshot->analyzer, false), *snapshot,
                                           Bm25Options(), Deadline::Never());
        HitCollector fast(query, limit, Deadline::Never()), slow(query, limit, Deadline::Never());
        fast.Enter(snapshot->segments[0]);
        slow.Enter(snapshot->segments[0]);
        REQUIRE(MaxScore::Serves(bound, fast));
        REQUIRE(MaxScore::Run(bound, snapshot->segments[0], &fast));
        REQUIRE(ExhaustiveSearch::Run(bound, snapshot->segments[0], &slow));
        INFO(text << ", the best " << limit << (early ? ", the best first" : ""));
        const Hits found = fast.top().Take(), expected = slow.top().Take();
        REQUIRE(found.size() == expected.size());
        REQUIRE((found == expected));
      }
    }
  }
}

}  // namespace
}  // namespace waymark::tests
