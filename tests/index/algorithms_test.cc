// Every algorithm against brute force: the same items, with the same scores to the bit, in the same order.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "index/conjunction.h"
#include "index/exhaustive_search.h"
#include "index/max_score.h"
#include "index/phrase_search.h"
#include "index/snapshot_search.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using Words = std::vector<int>;  // "w7" is 7
using Hits = std::vector<std::pair<FixedScore, ItemOrdinal>>;

struct RandomDocument {
  ItemOrdinal item;
  std::vector<Words> fields;
  bool deleted = false;
  uint64_t holds = 0;  // a bit a word
};

// Some hundred documents in several segments, some of them deleted.
struct RandomCorpus {
  std::mt19937 random;
  std::vector<std::vector<RandomDocument>> segments;
  std::shared_ptr<const IndexSnapshot> snapshot;
  unsigned words;

  explicit RandomCorpus(unsigned seed) : random(seed), words(5 + random() % 60) {
    const size_t fields = 1 + seed % 3;
    const bool in_order = random() % 2, deletions = random() % 3 != 0;
    const DocNumber documents = 200 + random() % 2000;
    std::vector<ItemOrdinal> items(documents);
    for (DocNumber i = 0; i < documents; ++i) items[i] = i * 2;
    if (!in_order) std::shuffle(items.begin(), items.end(), random);
    segments.resize(1 + random() % 4);
    const unsigned longest = 1 + random() % 30;
    for (DocNumber i = 0; i < documents; ++i) {
      RandomDocument document{items[i], std::vector<Words>(fields), deletions && random() % 4 == 0};
      for (Words& field : document.fields) {
        for (unsigned n = random() % longest; n > 0; --n) field.push_back(Word());
        for (int word : field) document.holds |= uint64_t{1} << word;
      }
      segments[random() % segments.size()].push_back(std::move(document));
    }
    IndexedFields indexed;
    const std::vector<double> weights = {1, seed % 2 == 0 ? 1 : 2.5, 0.25};
    for (size_t f = 0; f < fields; ++f) indexed.fields.push_back({absl::StrCat("f", f), weights[f], f == 0});
    std::vector<LiveSegment> live;
    for (const auto& segment : segments) live.push_back(Compile(segment, fields));
    snapshot = MakeSnapshot({StemmerKind::kNone, false}, indexed, live, Bm25Options(), 1, nullptr);
  }

  // Skewed, so that some words are in nearly all documents and some in few.
  int Word() { return static_cast<int>(random() % words * (random() % words) / words); }
  std::string Text() { return absl::StrCat("w", Word()); }

  static LiveSegment Compile(const std::vector<RandomDocument>& documents, size_t fields) {
    std::map<std::string, std::map<DocNumber, std::map<uint32_t, std::vector<int32_t>>>> postings;
    std::vector<ItemOrdinal> ordinals;
    for (DocNumber doc = 0; doc < documents.size(); ++doc) {
      ordinals.push_back(documents[doc].item);
      for (uint32_t f = 0; f < fields; ++f) {
        const Words& words = documents[doc].fields[f];
        for (size_t i = 0; i < words.size(); ++i)
          postings[absl::StrCat("w", words[i])][doc][f].push_back(static_cast<int32_t>(i));
      }
    }
    std::vector<std::string> names;
    for (size_t f = 0; f < fields; ++f) names.push_back(absl::StrCat("f", f));
    CompiledSegmentBuilder builder("_0", names, ordinals);
    for (const auto& [word, by_document] : postings) {
      builder.StartTerm(word);
      for (const auto& [doc, by_field] : by_document) {
        for (const auto& [field, positions] : by_field) builder.Add(doc, field, positions);
      }
    }
    auto compiled = builder.Finish();
    auto live =
        std::make_shared<LiveDocuments>(compiled, [&](DocNumber doc) { return documents[doc].deleted; });
    return {compiled, live};
  }
};

// The sum over fields of weight * places.
float Frequency(const RandomDocument& document, const std::vector<float>& weights, const Words& phrase) {
  float frequency = 0;
  for (size_t f = 0; f < document.fields.size(); ++f) {
    const Words& words = document.fields[f];
    int places = 0;
    for (size_t i = 0; i + phrase.size() <= words.size(); ++i) {
      places += std::equal(phrase.begin(), phrase.end(), words.begin() + static_cast<std::ptrdiff_t>(i));
    }
    frequency += weights[f] * static_cast<float>(places);
  }
  return frequency;
}

// The least slop with which words[next..] stand beside those that have their places; 1000: none. `places` and
// `begins` are of the words before.
int LeastSlop(const Words& field, const Words& phrase, std::vector<int>* places, int low, int high) {
  const size_t next = places->size();
  if (high - low > 7) return 1000;  // more than any query here allows
  if (next == phrase.size()) return high - low;
  int least = 1000;
  for (int at = 0; at < static_cast<int>(field.size()); ++at) {
    if (field[static_cast<size_t>(at)] != phrase[next]) continue;
    bool taken = false;
    for (size_t w = 0; w < next; ++w) taken = taken || (phrase[w] == phrase[next] && (*places)[w] == at);
    if (taken) continue;
    const int begin = at - static_cast<int>(next);
    places->push_back(at);
    least = std::min(least, LeastSlop(field, phrase, places, next == 0 ? begin : std::min(low, begin),
                                      next == 0 ? begin : std::max(high, begin)));
    places->pop_back();
  }
  return least;
}

// By the definition: of each place of the first word, the least slop.
float SloppyFrequency(const RandomDocument& document, const std::vector<float>& weights, const Words& phrase,
                      int slop) {
  float frequency = 0;
  for (size_t f = 0; f < document.fields.size(); ++f) {
    const Words& field = document.fields[f];
    float places = 0;
    for (int at = 0; at < static_cast<int>(field.size()); ++at) {
      if (field[static_cast<size_t>(at)] != phrase[0]) continue;
      std::vector<int> taken = {at};
      const int least = LeastSlop(field, phrase, &taken, at, at);
      if (least <= slop) places += 1.0f / static_cast<float>(1 + least);
    }
    if (weights[f] > 0) frequency += weights[f] * places;
  }
  return frequency;
}

// weights: [fields], 0 for those that do not count.
float FrequencyOf(const RandomDocument& document, const std::vector<float>& weights, const Words& phrase,
                  int slop) {
  for (int word : phrase) {
    if (!(document.holds >> word & 1)) return 0;
  }
  return slop > 0 ? SloppyFrequency(document, weights, phrase, slop) : Frequency(document, weights, phrase);
}

int WordOf(const std::string& text) { return std::stoi(text.substr(1)); }

Words PhraseOf(const ParsedQuery& query, size_t phrase) {
  Words words;
  for (const auto& word : query.phrases[phrase].words) words.push_back(WordOf(query.terms[word.term]));
  return words;
}

// Weights of the fields "f0", "f1", ... that a scope of the query counts; `scratch` holds them where they are
// others.
const std::vector<float>& WeightsIn(const BoundQuery& query, uint32_t scope,
                                    const std::vector<float>& weights, std::vector<float>* scratch) {
  const std::string& field = query.query.scopes[scope].field;
  if (field.empty()) return weights;
  scratch->assign(weights.size(), 0);
  const auto counted = static_cast<size_t>(field[1] - '0');
  (*scratch)[counted] = weights[counted];
  return *scratch;
}

struct WeightedWord {
  Words word;
  float weight;
  uint32_t scope;
};

// What a word of the query stands for.
std::vector<WeightedWord> WordsOf(const BoundQuery& query, size_t t) {
  const std::vector<BoundVariant>& variants = query.variants[t];
  if (variants.empty()) {
    return {{{WordOf(query.query.terms[t])}, query.term_weight[t], query.query.term_scopes[t]}};
  }
  std::vector<WeightedWord> words;
  for (const BoundVariant& variant : variants) {
    words.push_back({{WordOf(variant.term)}, variant.weight, variant.scope});
  }
  return words;
}

bool HoldsOne(const RandomDocument& document, const BoundQuery& query, size_t t) {
  const auto words = WordsOf(query, t);
  const std::vector<float> ones(document.fields.size(), 1);
  std::vector<float> scratch;
  return std::any_of(words.begin(), words.end(), [&](const WeightedWord& word) {
    if (!(document.holds >> word.word[0] & 1)) return false;
    return word.scope == 0 ||
           FrequencyOf(document, WeightsIn(query, word.scope, ones, &scratch), word.word, 0) > 0;
  });
}

float PhraseFrequency(const RandomDocument& document, const BoundQuery& query, size_t p,
                      const std::vector<float>& weights) {
  const QueryPhrase& phrase = query.query.phrases[p];
  std::vector<float> scratch;
  return FrequencyOf(document, WeightsIn(query, phrase.scope, weights, &scratch), PhraseOf(query.query, p),
                     phrase.slop);
}

bool Matches(const RandomDocument& document, const BoundQuery& query, const QueryNode& node) {
  const auto matches = [&](const QueryNode& child) { return Matches(document, query, child); };
  if (node.kind == QueryNode::Kind::kTerm) return HoldsOne(document, query, node.index);
  if (node.kind == QueryNode::Kind::kItems) return query.query.items[node.index]->Contains(document.item);
  if (node.kind == QueryNode::Kind::kPhrase) {
    return PhraseFrequency(document, query, node.index, std::vector<float>(document.fields.size(), 1)) > 0;
  }
  const auto held = std::count_if(node.should.begin(), node.should.end(), matches);
  const auto wanted = std::max<int64_t>(node.minimum, node.must.empty() ? 1 : 0);
  return std::all_of(node.must.begin(), node.must.end(), matches) && held >= wanted &&
         std::none_of(node.must_not.begin(), node.must_not.end(), matches);
}

// Of all documents that match and may be shown, best first.
Hits BruteForce(const RandomCorpus& corpus, const BoundQuery& bound, const SnapshotQuery& query) {
  Hits hits;
  size_t view = 0;
  for (const auto& segment : corpus.segments) {
    if (std::all_of(segment.begin(), segment.end(), [](const auto& d) { return d.deleted; })) continue;
    const std::vector<float>& weights = corpus.snapshot->segments[view++].weights;
    for (const RandomDocument& document : segment) {
      if (document.deleted || (query.allowed && !query.allowed->Contains(document.item)) ||
          std::binary_search(query.excluded.begin(), query.excluded.end(), document.item) ||
          !Matches(document, bound, *bound.query.root)) {
        continue;
      }
      float length = 0;
      for (size_t f = 0; f < document.fields.size(); ++f) {
        length += weights[f] * static_cast<float>(document.fields[f].size());
      }
      FixedScore score = 0;
      for (size_t t = 0; t < bound.query.terms.size(); ++t) {
        if (bound.query.term_boost[t] == 0) continue;
        FixedScore best = 0;
        std::vector<float> scratch;
        for (const WeightedWord& word : WordsOf(bound, t)) {
          const float frequency =
              FrequencyOf(document, WeightsIn(bound, word.scope, weights, &scratch), word.word, 0);
          if (frequency == 0) continue;
          const Bm25Term scorer{word.weight, bound.lengths};
          best = std::max(best, scorer.Score(frequency, length));
        }
        score += best;
      }
      for (size_t p = 0; p < bound.query.phrases.size(); ++p) {
        const float frequency = PhraseFrequency(document, bound, p, weights);
        if (bound.query.phrase_times[p] == 0 || frequency == 0) continue;
        score += bound.Phrase(p).Score(frequency, length);
      }
      hits.emplace_back(score, document.item);
    }
  }
  std::sort(hits.begin(), hits.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return hits;
}

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
    if (kind == 11) absl::StrAppend(&text, "^", 1 + corpus->random() % 40, ".5");
    // With misspelled words and beginnings.
    if (kind == 7) text += std::vector<std::string>{"~1", "~2", "*", ""}[corpus->random() % 4];
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
  if (query.total == TotalCount::kExact) {
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
      query.total = corpus.random() % 3 == 0 ? TotalCount::kExact : TotalCount::kAtLeast;
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
      const BoundQuery bound =
          BindQuery(ParseFor(*corpus.snapshot, query), *corpus.snapshot, Bm25Options(), Deadline::Never());
      if (!bound.query.root) continue;
      tally.runs["slop"] += !bound.query.phrases.empty() && bound.query.phrases[0].slop > 0;
      tally.runs["field"] += bound.query.scopes.size() > 1;
      tally.runs["condition"] += !bound.query.items.empty();
      tally.runs["minimum"] += bound.query.root->minimum > 1;
      const Hits expected = BruteForce(corpus, bound, query);
      const size_t limit = std::vector<size_t>{1, 3, 10, 50, 101, 1000}[corpus.random() % 6];
      Compare<MaxScore>("MaxScore", corpus, bound, query, limit, expected, &tally);
      Compare<Conjunction>("Conjunction", corpus, bound, query, limit, expected, &tally);
      Compare<PhraseSearch>("PhraseSearch", corpus, bound, query, limit, expected, &tally);
      Compare<ExhaustiveSearch>("ExhaustiveSearch", corpus, bound, query, limit, expected, &tally);
    }
  }
  for (const char* name :
       {"MaxScore", "Conjunction", "PhraseSearch", "slop", "field", "condition", "minimum"}) {
    INFO(name);
    CHECK(tally.runs[name] > 400);
  }
  CHECK(tally.runs["ExhaustiveSearch"] > 9500);
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
        query.total = TotalCount::kAtLeast;
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
}  // namespace waymark
