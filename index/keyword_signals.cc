// FillKeywordSignals: scores given items instead of finding them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "index/bound_query.h"
#include "index/snapshot_search.h"
#include "index/word_places.h"

namespace waymark {
namespace {

struct Wanted {
  DocNumber doc;
  Candidate* candidate;
  FixedScore score = 0;
  int held = 0, in_title = 0;  // words of the query
  bool found = false;          // by a synonym, or something else that stands beside its words
};

// weights: as TermLeaf takes them.
float WeightedFrequency(const SegmentView& segment, absl::Span<const PostingCursor::Entry> entries,
                        absl::Span<const float> weights = {}) {
  if (weights.empty()) weights = segment.weights;
  float frequency = 0;
  for (const PostingCursor::Entry& entry : entries) {
    frequency += weights[entry.field] * static_cast<float>(entry.tf);
  }
  return frequency;
}

// The candidates that this segment holds, by document.
std::vector<Wanted> Locate(const SegmentView& segment, absl::Span<Candidate> candidates) {
  std::vector<Wanted> wanted;
  for (Candidate& candidate : candidates) {
    const auto doc = segment.postings->Find(candidate.item);
    if (doc && segment.live->Contains(*doc)) wanted.push_back({*doc, &candidate});
  }
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) { return a.doc < b.doc; });
  return wanted;
}

void AddTerm(const SegmentView& segment, const BoundQuery& bound, size_t t, std::vector<Wanted>* wanted) {
  const auto term = bound.Find(segment, t);
  if (!term) return;
  PostingCursor cursor(*segment.postings, *term);
  const Bm25Term scorer = bound.Term(t);
  for (Wanted& w : *wanted) {
    if (cursor.Advance(w.doc) != w.doc) continue;
    ++w.held;
    for (const PostingCursor::Entry& entry : cursor.entries()) {
      w.in_title += static_cast<int>(entry.field) == segment.title;
    }
    if (scorer.weight == 0) continue;  // asked within a phrase only, which scores for it
    w.score += scorer.Score(WeightedFrequency(segment, cursor.entries()), (*segment.lengths)[w.doc]);
  }
}

// What counts beside the words of the query and is none of them, as an exact form.
void AddAside(const SegmentView& segment, const BoundQuery& bound, size_t t, std::vector<Wanted>* wanted) {
  const auto term = bound.Find(segment, t);
  if (!term) return;
  const uint32_t scope = bound.query.term_scopes[t];
  PostingCursor cursor(*segment.postings, *term);
  for (Wanted& w : *wanted) {
    if (cursor.Advance(w.doc) != w.doc) continue;
    const float frequency = WeightedFrequency(segment, cursor.entries(), bound.WeightsIn(segment, scope));
    if (frequency == 0) continue;
    w.found = true;
    w.score += bound.Term(t).Score(frequency, (*segment.lengths)[w.doc]);
  }
}

// What a candidate has of one thing that was looked for.
struct Part {
  FixedScore score = 0;
  bool held = false, in_title = false;
};

// Two words that one of the query stands for.
void AddPair(const SegmentView& segment, const BoundQuery& bound, const BoundVariant& variant,
             const Bm25Term& scorer, const std::vector<Wanted>& wanted, std::vector<Part>* best) {
  const TermIndex second = variant.found_second[segment.number];
  if (second == kNoTerm) return;
  PhraseCursor cursor(segment, {{variant.found[segment.number], 0}, {second, 1}}, scorer,
                      bound.average_length);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (cursor.AdvanceToWords(wanted[i].doc) != wanted[i].doc) continue;
    const float frequency = cursor.Frequency();
    if (frequency == 0) continue;
    Part& part = (*best)[i];
    part.held = true;
    part.in_title |= segment.title >= 0 && cursor.StandsIn(static_cast<uint32_t>(segment.title));
    part.score = std::max(part.score, scorer.Score(frequency, (*segment.lengths)[wanted[i].doc]));
  }
}

// A word that stands for several terms: an item that holds one of them holds the word.
void AddVariants(const SegmentView& segment, const BoundQuery& bound, size_t t, std::vector<Wanted>* wanted) {
  std::vector<Part> best(wanted->size());
  for (const BoundVariant& variant : bound.variants[t]) {
    const TermIndex term = variant.found[segment.number];
    if (term == kNoTerm) continue;
    const Bm25Term scorer{variant.weight, bound.lengths};
    if (!variant.found_second.empty()) {
      AddPair(segment, bound, variant, scorer, *wanted, &best);
      continue;
    }
    const absl::Span<const float> weights = bound.WeightsIn(segment, variant.scope);
    PostingCursor cursor(*segment.postings, term);
    for (size_t i = 0; i < wanted->size(); ++i) {
      const DocNumber doc = (*wanted)[i].doc;
      if (cursor.Advance(doc) != doc) continue;
      const float frequency = WeightedFrequency(segment, cursor.entries(), weights);
      if (frequency == 0) continue;
      best[i].held = true;
      for (const PostingCursor::Entry& entry : cursor.entries()) {
        const bool counts = weights.empty() || weights[entry.field] > 0;
        best[i].in_title |= counts && static_cast<int>(entry.field) == segment.title;
      }
      best[i].score = std::max(best[i].score, scorer.Score(frequency, (*segment.lengths)[doc]));
    }
  }
  for (size_t i = 0; i < best.size(); ++i) {
    Wanted& w = (*wanted)[i];
    w.score += best[i].score;
    w.held += best[i].held;
    w.in_title += best[i].in_title;
  }
}

void AddPhrase(const SegmentView& segment, const BoundQuery& bound, size_t p, std::vector<Wanted>* wanted) {
  std::vector<PhraseCursor> ways = PhraseCursors(segment, bound, p);
  for (Wanted& w : *wanted) {
    FixedScore best = 0;
    for (PhraseCursor& cursor : ways) {
      if (cursor.AdvanceToWords(w.doc) != w.doc) continue;
      const float frequency = cursor.Frequency();
      if (frequency == 0) continue;
      w.found = true;
      best = std::max(best, cursor.scorer().Score(frequency, (*segment.lengths)[w.doc]));
    }
    w.score += best;
  }
}

std::vector<Part> TermParts(const SegmentView& segment, TermIndex term, const Bm25Term& scorer,
                            const std::vector<Wanted>& wanted) {
  std::vector<Part> parts(wanted.size());
  PostingCursor cursor(*segment.postings, term);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (cursor.Advance(wanted[i].doc) != wanted[i].doc) continue;
    parts[i].held = true;
    for (const PostingCursor::Entry& entry : cursor.entries()) {
      parts[i].in_title |= static_cast<int>(entry.field) == segment.title;
    }
    if (scorer.weight == 0) continue;
    parts[i].score =
        scorer.Score(WeightedFrequency(segment, cursor.entries()), (*segment.lengths)[wanted[i].doc]);
  }
  return parts;
}

std::vector<Part> PhraseParts(const SegmentView& segment, const BoundQuery& bound, const BoundSynonym& phrase,
                              const std::vector<Wanted>& wanted) {
  std::vector<Part> parts(wanted.size());
  PhraseCursor cursor(segment, phrase.WordsIn(segment), {phrase.weight, bound.lengths}, bound.average_length);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (cursor.AdvanceToWords(wanted[i].doc) != wanted[i].doc) continue;
    const float frequency = cursor.Frequency();
    if (frequency == 0) continue;
    parts[i].held = true;
    parts[i].in_title = segment.title >= 0 && cursor.StandsIn(static_cast<uint32_t>(segment.title));
    parts[i].score = cursor.scorer().Score(frequency, (*segment.lengths)[wanted[i].doc]);
  }
  return parts;
}

// A place that synonyms widen: an item that holds one of the others holds the typed words. `counts`: [typed],
// whether the word is counted here.
void AddSynonyms(const SegmentView& segment, const BoundQuery& bound, size_t place,
                 const std::vector<bool>& counts, std::vector<Wanted>* wanted) {
  const std::vector<uint32_t>& typed = bound.query.synonyms[place].typed;
  std::vector<FixedScore> best(wanted->size());
  std::vector<int> held(wanted->size()), in_title(wanted->size());
  const auto all = static_cast<int>(std::count(counts.begin(), counts.end(), true));
  for (size_t w = 0; w < typed.size(); ++w) {
    const auto term = bound.Find(segment, typed[w]);
    if (!term) continue;
    const auto parts =
        TermParts(segment, *term, {bound.synonyms[place].typed_weight[w], bound.lengths}, *wanted);
    for (size_t i = 0; i < parts.size(); ++i) {
      best[i] += parts[i].score;
      held[i] += counts[w] && parts[i].held;
      in_title[i] += counts[w] && parts[i].in_title;
    }
  }
  for (const BoundSynonym& other : bound.synonyms[place].others) {
    if (other.MissingIn(segment)) continue;
    const auto parts = other.terms.size() == 1 ? TermParts(segment, other.found[segment.number][0],
                                                           {other.weight, bound.lengths}, *wanted)
                                               : PhraseParts(segment, bound, other, *wanted);
    for (size_t i = 0; i < parts.size(); ++i) {
      best[i] = std::max(best[i], parts[i].score);
      if (parts[i].held) held[i] = all;
      if (parts[i].in_title) in_title[i] = all;
      // Also where each of the words is counted in another place of the query.
      (*wanted)[i].found |= parts[i].held;
    }
  }
  for (size_t i = 0; i < wanted->size(); ++i) {
    (*wanted)[i].score += best[i];
    (*wanted)[i].held += held[i];
    (*wanted)[i].in_title += in_title[i];
  }
}

// [synonyms, typed]: each word of the query is counted once, where it stands by itself first.
std::vector<std::vector<bool>> CountedBesideSynonyms(const ParsedQuery& query, std::vector<bool>* elsewhere) {
  std::vector<bool> counted(query.terms.size());
  for (size_t t = 0; t < query.terms.size(); ++t) counted[t] = query.term_times[t] > 0;
  for (size_t p = 0; p < query.phrases.size(); ++p) {
    for (const QueryPhrase::Word& word : query.phrases[p].words) {
      if (query.phrase_times[p] > 0) counted[word.term] = true;
    }
  }
  *elsewhere = counted;
  std::vector<std::vector<bool>> counts;
  for (const QuerySynonyms& place : query.synonyms) {
    std::vector<bool>& here = counts.emplace_back();
    for (const uint32_t term : place.typed) {
      here.push_back(!counted[term]);
      counted[term] = true;
    }
  }
  return counts;
}

void FillPlaces(const SegmentView& segment, bool has_title, const std::vector<Wanted>& wanted,
                WordPlaces* places) {
  places->Enter(segment);
  for (const Wanted& w : wanted) {
    places->Read(w.doc);
    SignalValues& signals = w.candidate->signals;
    if (has_title) Set(signals, Signal::kKeywordTitleMatch, places->TitleMatch());
    if (places->words() > 1) Set(signals, Signal::kKeywordProximity, places->Proximity());
  }
}

}  // namespace

void FillKeywordSignals(const IndexSnapshot& snapshot, const SnapshotQuery& query, const Bm25Options& bm25,
                        absl::Span<Candidate> candidates) {
  const BoundQuery bound =
      BindQuery(ParseFor(snapshot, query), snapshot, bm25, Deadline::Never(), query.typos);
  const ParsedQuery& parsed = bound.query;
  const auto words = static_cast<float>(std::count(parsed.asked.begin(), parsed.asked.end(), true));
  if (words == 0) return;
  const bool has_title = std::any_of(snapshot.fields.fields.begin(), snapshot.fields.fields.end(),
                                     [](const IndexedField& field) { return field.title; });
  std::vector<bool> by_itself;  // [terms]
  const auto counts = CountedBesideSynonyms(parsed, &by_itself);
  WordPlaces places(bound);
  for (const SegmentView& segment : snapshot.segments) {
    std::vector<Wanted> wanted = Locate(segment, candidates);
    if (wanted.empty()) continue;
    for (size_t t = 0; t < parsed.terms.size(); ++t) {
      if (parsed.aside[t] && parsed.term_boost[t] > 0) AddAside(segment, bound, t, &wanted);
      if (!by_itself[t] || parsed.aside[t]) continue;
      bound.StandsForSeveral(t) ? AddVariants(segment, bound, t, &wanted)
                                : AddTerm(segment, bound, t, &wanted);
    }
    for (size_t p = 0; p < parsed.phrases.size(); ++p) {
      if (parsed.phrase_times[p] > 0) AddPhrase(segment, bound, p, &wanted);
    }
    for (size_t p = 0; p < parsed.synonyms.size(); ++p) AddSynonyms(segment, bound, p, counts[p], &wanted);
    for (const Wanted& w : wanted) {
      SignalValues& signals = w.candidate->signals;
      if (w.held > 0 || w.found) Set(signals, Signal::kKeywordScore, bound.Score(w.score));
      Set(signals, Signal::kKeywordCoverage, static_cast<float>(w.held) / words);
      if (has_title) Set(signals, Signal::kKeywordTitle, static_cast<float>(w.in_title) / words);
    }
    FillPlaces(segment, has_title, wanted, &places);
  }
}

}  // namespace waymark
