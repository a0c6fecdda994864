#include "index/bound_query.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "index/query_expansion.h"

namespace waymark {
namespace {

bool AppendTerms(const std::vector<QueryNode>& nodes, std::vector<uint32_t>* terms) {
  for (const QueryNode& node : nodes) {
    if (node.kind != QueryNode::Kind::kTerm) return false;
    if (std::find(terms->begin(), terms->end(), node.index) == terms->end()) terms->push_back(node.index);
  }
  return true;
}

std::optional<FlatQuery> Flatten(const QueryNode& root) {
  FlatQuery flat;
  if (root.kind == QueryNode::Kind::kTerm) {
    flat.should.push_back(root.index);
    return flat;
  }
  if (root.kind != QueryNode::Kind::kGroup || root.minimum > (root.must.empty() ? 1 : 0)) return std::nullopt;
  // An exact form is held beside a wanted word only, so as a wish it changes nothing in what matches.
  if (root.must.empty() && root.also_apart) return std::nullopt;
  if (!AppendTerms(root.must, &flat.must) || !AppendTerms(root.should, &flat.should) ||
      !AppendTerms(root.also, &flat.should) || !AppendTerms(root.must_not, &flat.must_not)) {
    return std::nullopt;
  }
  std::erase_if(flat.should, [&](uint32_t term) {
    return std::find(flat.must.begin(), flat.must.end(), term) != flat.must.end();
  });
  return flat;
}

int64_t DocumentsWith(const IndexSnapshot& snapshot, const std::vector<std::vector<TermIndex>>& found,
                      size_t term) {
  int64_t documents = 0;
  for (const SegmentView& segment : snapshot.segments) {
    const TermIndex at = found[segment.number][term];
    if (at != kNoTerm) documents += segment.live->document_count(at);
  }
  return documents;
}

// In no document as a whole: none.
std::optional<BoundSynonym> BindOther(const SynonymPhrase& phrase, const IndexSnapshot& snapshot) {
  BoundSynonym bound{phrase.terms, phrase.offsets, {}, 0};
  bool somewhere = false;
  for (const SegmentView& segment : snapshot.segments) {
    std::vector<TermIndex>& found = bound.found.emplace_back();
    for (const std::string& term : phrase.terms) {
      found.push_back(segment.postings->FindTerm(term).value_or(kNoTerm));
    }
    somewhere = somewhere || !bound.MissingIn(segment);
  }
  return somewhere ? std::optional(std::move(bound)) : std::nullopt;
}

// idf: [ParsedQuery::terms]. Weights are not yet in units. Answers the most that the place counts for.
double BindSynonyms(const QuerySynonyms& place, const IndexSnapshot& snapshot, const std::vector<double>& idf,
                    BoundSynonyms* bound) {
  double typed = 0;
  for (const uint32_t term : place.typed) {
    typed += idf[term];
    bound->typed_weight.push_back(static_cast<float>(idf[term]));
  }
  // Words that nothing holds count for as much as the most frequent of the others.
  double least = std::numeric_limits<double>::infinity();
  for (const QuerySynonyms::Other& other : place.others) {
    auto found = BindOther(*other.phrase, snapshot);
    if (!found) continue;
    double sum = 0;
    for (size_t t = 0; t < found->terms.size(); ++t) {
      const int64_t documents = DocumentsWith(snapshot, found->found, t);
      if (documents > 0) sum += Bm25Idf(snapshot.documents, documents);
    }
    if (sum == 0) continue;
    least = std::min(least, sum);
    bound->others.push_back(*std::move(found));
  }
  const double counts = typed > 0 || bound->others.empty() ? typed : least;
  for (BoundSynonym& other : bound->others) other.weight = static_cast<float>(kSynonymShare * counts);
  return std::max(typed, counts);
}

}  // namespace

namespace {

std::vector<std::vector<std::vector<float>>> WeightsOfScopes(const ParsedQuery& query,
                                                             const IndexSnapshot& snapshot) {
  if (query.scopes.size() == 1) return {};
  std::vector<std::vector<std::vector<float>>> weights(query.scopes.size());
  for (size_t s = 1; s < query.scopes.size(); ++s) {
    const QueryScope& scope = query.scopes[s];
    for (const SegmentView& segment : snapshot.segments) {
      std::vector<float> of_fields = segment.weights;
      const std::vector<std::string>& names = segment.postings->fields();
      for (size_t f = 0; f < names.size(); ++f) {
        const bool counts = (scope.field.empty() || scope.field == names[f]) &&
                            (!scope.group || *scope.group == snapshot.analyzers.GroupOf(names[f]));
        if (!counts) of_fields[f] = 0;
      }
      weights[s].push_back(std::move(of_fields));
    }
  }
  return weights;
}

// 0: nothing holds it.
double IdfOf(const std::string& term, const IndexSnapshot& snapshot) {
  int64_t documents = 0;
  for (const SegmentView& segment : snapshot.segments) {
    if (const auto found = segment.postings->FindTerm(term))
      documents += segment.live->document_count(*found);
  }
  return documents > 0 ? Bm25Idf(snapshot.documents, documents) : 0;
}

// Weights are not yet in units. Answers the most that the phrase counts for.
double BindPhrase(const QueryPhrase& phrase, double boost, const std::vector<double>& idf,
                  std::vector<BoundPhrase>* ways) {
  double most = 0;
  const auto add = [&](const std::vector<QueryPhrase::Word>& words, uint32_t scope) {
    double sum = 0;
    for (const QueryPhrase::Word& word : words) sum += idf[word.term];
    ways->push_back({words, scope, static_cast<float>(sum * boost)});
    most = std::max(most, sum * boost);
  };
  add(phrase.words, phrase.scope);
  for (const QueryPhrase::Version& other : phrase.others) add(other.words, other.scope);
  return most;
}

}  // namespace

std::vector<PhraseCursor::Word> BoundSynonym::WordsIn(const SegmentView& segment) const {
  std::vector<PhraseCursor::Word> words;
  for (size_t t = 0; t < terms.size(); ++t) words.push_back({found[segment.number][t], offsets[t]});
  return words;
}

BoundQuery BindQuery(ParsedQuery query, const IndexSnapshot& snapshot, const Bm25Options& bm25,
                     Deadline deadline, TypoTolerance typos) {
  BoundQuery bound;
  bound.query = std::move(query);
  bound.lengths = Bm25Lengths(bm25, snapshot.average_length);
  bound.average_length = snapshot.average_length;
  const ParsedQuery& parsed = bound.query;
  for (const SegmentView& segment : snapshot.segments) {
    std::vector<TermIndex>& found = bound.found_terms.emplace_back();
    found.reserve(parsed.terms.size());
    for (const std::string& term : parsed.terms)
      found.push_back(segment.postings->FindTerm(term).value_or(kNoTerm));
  }
  std::vector<double> idf(parsed.terms.size());
  double greatest = 0;
  for (size_t t = 0; t < parsed.terms.size(); ++t) {
    if (!parsed.asked[t] && !parsed.aside[t]) continue;
    // Counting may walk postings where documents were deleted since their segment was compiled.
    if (deadline.Expired()) {
      bound.complete = false;
      return bound;
    }
    int64_t documents = 0;
    for (const SegmentView& segment : snapshot.segments) {
      if (const auto term = bound.Find(segment, t)) documents += segment.live->document_count(*term);
    }
    if (documents > 0) idf[t] = Bm25Idf(snapshot.documents, documents);
  }
  for (const ParsedQuery::JoinedWords& joined : parsed.joined) {
    double both = 0;
    for (const std::string* word : {&joined.first, &joined.second}) both += IdfOf(*word, snapshot);
    // Beside words that nothing holds it counts by itself.
    if (both > 0) idf[joined.joined] = std::min(idf[joined.joined], kSynonymShare * both);
  }
  bound.scope_weights = WeightsOfScopes(parsed, snapshot);
  if (!ExpandQuery(snapshot, typos, deadline, &idf, &bound)) {
    bound.complete = false;
    return bound;
  }
  for (size_t t = 0; t < parsed.terms.size(); ++t) greatest += idf[t] * parsed.term_boost[t];
  bound.phrases.resize(parsed.phrases.size());
  for (size_t p = 0; p < parsed.phrases.size(); ++p) {
    greatest += BindPhrase(parsed.phrases[p], parsed.phrase_boost[p], idf, &bound.phrases[p]);
  }
  for (const QuerySynonyms& place : parsed.synonyms) {
    if (deadline.Expired()) {
      bound.complete = false;
      return bound;
    }
    greatest += place.boost * BindSynonyms(place, snapshot, idf, &bound.synonyms.emplace_back());
  }
  if (greatest > 0) bound.unit = std::exp2(std::ceil(std::log2(greatest))) / kGreatestScore;
  for (size_t t = 0; t < parsed.terms.size(); ++t) {
    bound.term_weight.push_back(static_cast<float>(idf[t] * parsed.term_boost[t] / bound.unit));
    for (BoundVariant& variant : bound.variants[t]) {
      variant.weight = static_cast<float>(variant.idf * parsed.term_boost[t] / bound.unit);
    }
  }
  for (std::vector<BoundPhrase>& ways : bound.phrases) {
    for (BoundPhrase& way : ways) way.weight = static_cast<float>(way.weight / bound.unit);
    bound.phrase_weight.push_back(ways[0].weight);
  }
  for (size_t p = 0; p < bound.synonyms.size(); ++p) {
    const double share = parsed.synonyms[p].boost / bound.unit;
    for (float& weight : bound.synonyms[p].typed_weight) weight = static_cast<float>(weight * share);
    for (BoundSynonym& other : bound.synonyms[p].others)
      other.weight = static_cast<float>(other.weight * share);
  }
  bool pairs = false;
  for (size_t t = 0; t < parsed.terms.size(); ++t) pairs = pairs || bound.StandsForPairs(t);
  if (parsed.root && !pairs) bound.flat = Flatten(*parsed.root);
  return bound;
}

namespace {

std::vector<PhraseCursor::Word> FoundWords(const SegmentView& segment, const BoundQuery& query,
                                           const std::vector<QueryPhrase::Word>& asked) {
  std::vector<PhraseCursor::Word> words;
  for (const QueryPhrase::Word& word : asked) {
    auto term = query.Find(segment, word.term);
    if (!term) return {};
    words.push_back({*term, word.offset});
  }
  return words;
}

}  // namespace

std::vector<PhraseCursor::Word> PhraseWords(const SegmentView& segment, const BoundQuery& query,
                                            size_t phrase) {
  return FoundWords(segment, query, query.query.phrases[phrase].words);
}

std::vector<PhraseCursor::Word> WordsOfWay(const SegmentView& segment, const BoundQuery& query,
                                           const BoundPhrase& way) {
  return FoundWords(segment, query, way.words);
}

std::vector<PhraseCursor> PhraseCursors(const SegmentView& segment, const BoundQuery& query, size_t phrase) {
  std::vector<PhraseCursor> cursors;
  for (const BoundPhrase& way : query.phrases[phrase]) {
    const auto words = FoundWords(segment, query, way.words);
    if (words.empty()) continue;
    cursors.emplace_back(
        segment, words, Bm25Term{way.weight, query.lengths}, query.average_length,
        PhraseCursor::Options{query.WeightsIn(segment, way.scope), query.query.phrases[phrase].slop});
  }
  return cursors;
}

bool IsPlainPhrase(const QueryPhrase& phrase) {
  return phrase.others.empty() && phrase.scope == 0 && phrase.slop == 0;
}

}  // namespace waymark
