#include "tests/index/brute_force_search.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace waymark::tests {

int WordOf(const std::string& text) { return std::stoi(text.substr(1)); }

namespace {

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

Words PhraseOf(const ParsedQuery& query, size_t phrase) {
  Words words;
  for (const auto& word : query.phrases[phrase].words) words.push_back(WordOf(query.terms[word.term]));
  return words;
}

struct Asked {
  const BoundQuery& bound;
  const FieldAnalyzers& analyzers;
};

// Weights of the fields "f0", "f1", ... that a scope of the query counts; `scratch` holds them where they are
// others.
const std::vector<float>& WeightsIn(const Asked& asked, uint32_t scope, const std::vector<float>& weights,
                                    std::vector<float>* scratch) {
  const QueryScope& counted = asked.bound.query.scopes[scope];
  if (counted.field.empty() && !counted.group) return weights;
  scratch->assign(weights.size(), 0);
  for (size_t f = 0; f < weights.size(); ++f) {
    const std::string name = absl::StrCat("f", f);
    const bool counts = (counted.field.empty() || counted.field == name) &&
                        (!counted.group || *counted.group == asked.analyzers.GroupOf(name));
    if (counts) (*scratch)[f] = weights[f];
  }
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

bool HoldsOne(const RandomDocument& document, const Asked& asked, size_t t) {
  const auto words = WordsOf(asked.bound, t);
  const std::vector<float> ones(document.fields.size(), 1);
  std::vector<float> scratch;
  return std::any_of(words.begin(), words.end(), [&](const WeightedWord& word) {
    if (!(document.holds >> word.word[0] & 1)) return false;
    return word.scope == 0 ||
           FrequencyOf(document, WeightsIn(asked, word.scope, ones, &scratch), word.word, 0) > 0;
  });
}

float PhraseFrequency(const RandomDocument& document, const Asked& asked, size_t p,
                      const std::vector<float>& weights) {
  const QueryPhrase& phrase = asked.bound.query.phrases[p];
  std::vector<float> scratch;
  return FrequencyOf(document, WeightsIn(asked, phrase.scope, weights, &scratch),
                     PhraseOf(asked.bound.query, p), phrase.slop);
}

bool Matches(const RandomDocument& document, const Asked& asked, const QueryNode& node) {
  const auto matches = [&](const QueryNode& child) { return Matches(document, asked, child); };
  if (node.kind == QueryNode::Kind::kTerm) return HoldsOne(document, asked, node.index);
  if (node.kind == QueryNode::Kind::kItems)
    return asked.bound.query.items[node.index]->Contains(document.item);
  if (node.kind == QueryNode::Kind::kPhrase) {
    return PhraseFrequency(document, asked, node.index, std::vector<float>(document.fields.size(), 1)) > 0;
  }
  const auto held = std::count_if(node.should.begin(), node.should.end(), matches);
  const auto wanted = std::max<int64_t>(node.minimum, node.must.empty() ? 1 : 0);
  return std::all_of(node.must.begin(), node.must.end(), matches) && held >= wanted &&
         std::none_of(node.must_not.begin(), node.must_not.end(), matches);
}

}  // namespace

Hits BruteForce(const RandomCorpus& corpus, const BoundQuery& bound, const SnapshotQuery& query) {
  Hits hits;
  const Asked asked{bound, corpus.snapshot->analyzers};
  size_t view = 0;
  for (const auto& segment : corpus.segments) {
    if (std::all_of(segment.begin(), segment.end(), [](const auto& d) { return d.deleted; })) continue;
    const std::vector<float>& weights = corpus.snapshot->segments[view++].weights;
    for (const RandomDocument& document : segment) {
      if (document.deleted || (query.allowed && !query.allowed->Contains(document.item)) ||
          std::binary_search(query.excluded.begin(), query.excluded.end(), document.item) ||
          !Matches(document, asked, *bound.query.root)) {
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
              FrequencyOf(document, WeightsIn(asked, word.scope, weights, &scratch), word.word, 0);
          if (frequency == 0) continue;
          const Bm25Term scorer{word.weight, bound.lengths};
          best = std::max(best, scorer.Score(frequency, length));
        }
        score += best;
      }
      for (size_t p = 0; p < bound.query.phrases.size(); ++p) {
        const float frequency = PhraseFrequency(document, asked, p, weights);
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

}  // namespace waymark::tests
