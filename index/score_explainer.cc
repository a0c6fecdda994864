#include "index/score_explainer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "index/posting_cursor.h"

namespace waymark {
namespace {

using ExplainedKind = TermExplanation::Kind;

constexpr char kNotHeld[] = "the item does not hold it";

// One item's document, explained.
class ScoreExplainer {
 public:
  ScoreExplainer(const IndexSnapshot& snapshot, const BoundQuery& bound, const SegmentView& segment,
                 DocNumber doc)
      : snapshot_(snapshot), bound_(bound), segment_(segment), doc_(doc), length_((*segment.lengths)[doc]) {}

  std::vector<TermExplanation> Explain() {
    const ParsedQuery& query = bound_.query;
    for (size_t t = 0; t < query.terms.size(); ++t) {
      if (query.term_boost[t] == 0) continue;  // within phrases or beside synonyms only, or excluded
      if (query.aside[t]) {
        AddAside(t);
      } else {
        bound_.StandsForSeveral(t) ? AddVariants(t) : AddWord(t);
      }
    }
    for (size_t p = 0; p < query.phrases.size(); ++p) {
      if (query.phrase_boost[p] > 0) AddPhrase(p);
    }
    for (size_t p = 0; p < query.synonyms.size(); ++p) {
      if (query.synonyms[p].boost > 0) AddSynonyms(p);
    }
    return std::move(terms_);
  }
  double score() const { return Scale(total_); }

 private:
  struct Weighed {
    TermExplanation term;
    FixedScore score = 0;
  };

  double Scale(int64_t fixed) const { return static_cast<double>(fixed) * bound_.unit; }
  double Idf(float weight, double times) const {
    return times > 0 ? static_cast<double>(weight) * bound_.unit / times : 0;
  }

  // Of one term per segment.
  template <class Find>
  int64_t DocumentsHolding(const Find& find) const {
    int64_t documents = 0;
    for (const SegmentView& segment : snapshot_.segments) {
      const TermIndex term = find(segment);
      if (term != kNoTerm) documents += segment.live->document_count(term);
    }
    return documents;
  }

  // weights: as TermLeaf takes them.
  float WeightOf(absl::Span<const float> weights, uint32_t field) const {
    return weights.empty() ? segment_.weights[field] : weights[field];
  }
  void AddField(uint32_t field, float weight, double frequency, TermExplanation* term) const {
    if (weight > 0) term->fields.push_back({segment_.postings->fields()[field], weight, frequency});
  }

  template <class Find>
  Weighed Weigh(ExplainedKind kind, const std::string& text, const std::string& typed, const Find& find,
                float weight, double times, uint32_t scope = 0) const {
    Weighed weighed;
    TermExplanation& term = weighed.term;
    term.kind = kind;
    term.term = text;
    if (typed != text) term.typed = typed;
    term.documents_with = DocumentsHolding(find);
    term.times = times;
    term.idf = Idf(weight, times);
    term.left_out = kNotHeld;
    const TermIndex index = find(segment_);
    if (index == kNoTerm) return weighed;
    PostingCursor cursor(*segment_.postings, index);
    if (cursor.Advance(doc_) != doc_) return weighed;
    const absl::Span<const float> weights = bound_.WeightsIn(segment_, scope);
    float tf = 0;
    for (const PostingCursor::Entry& entry : cursor.entries()) {
      const float field_weight = WeightOf(weights, entry.field);
      tf += field_weight * static_cast<float>(entry.tf);
      AddField(entry.field, field_weight, entry.tf, &term);
    }
    if (tf == 0 && scope != 0) return weighed;  // in other fields only
    term.left_out.clear();
    term.tf = tf;
    weighed.score = Bm25Term{weight, bound_.lengths}.Score(tf, length_);
    return weighed;
  }

  Weighed WeighPhrase(ExplainedKind kind, std::string text, const std::string& typed,
                      const std::vector<PhraseCursor::Word>& words, float weight, double times,
                      const PhraseCursor::Options& options = {}) const {
    Weighed weighed;
    TermExplanation& term = weighed.term;
    term.kind = kind;
    term.term = std::move(text);
    if (typed != term.term) term.typed = typed;
    term.times = times;
    term.idf = Idf(weight, times);
    term.left_out = kNotHeld;
    if (words.empty()) return weighed;
    PhraseCursor cursor(segment_, words, {weight, bound_.lengths}, bound_.average_length, options);
    if (cursor.AdvanceToWords(doc_) != doc_) return weighed;
    const float tf = cursor.Frequency();
    if (tf == 0) return weighed;
    term.left_out.clear();
    term.tf = tf;
    for (uint32_t field = 0; field < segment_.postings->fields().size(); ++field) {
      const float places = cursor.PlacesIn(field);
      if (places > 0) AddField(field, WeightOf(options.weights, field), places, &term);
    }
    weighed.score = cursor.scorer().Score(tf, length_);
    return weighed;
  }

  void Count(Weighed weighed) {
    weighed.term.contribution = Scale(weighed.score);
    total_ += weighed.score;
    terms_.push_back(std::move(weighed.term));
  }
  void LeaveOut(Weighed weighed, const std::string& better) {
    if (weighed.term.left_out.empty()) {
      weighed.term.left_out = absl::StrCat("'", better, "' in its place gives more");
    }
    terms_.push_back(std::move(weighed.term));
  }
  // Of things that stand for each other, the best counts.
  void CountBest(std::vector<Weighed> all) {
    if (all.empty()) return;
    const auto best = std::max_element(all.begin(), all.end(),
                                       [](const Weighed& a, const Weighed& b) { return a.score < b.score; });
    const std::string better = best->term.term;
    for (auto it = all.begin(); it != all.end(); ++it) {
      it == best ? Count(std::move(*it)) : LeaveOut(std::move(*it), better);
    }
  }

  TermIndex FindWord(const SegmentView& segment, size_t t) const {
    return bound_.found_terms[segment.number][t];
  }

  void AddWord(size_t t) {
    const auto& variants = bound_.variants[t];
    const std::string& typed = bound_.query.terms[t];
    const std::string& text = variants.empty() ? typed : variants[0].term;
    Count(Weigh(
        text == typed ? ExplainedKind::kWord : ExplainedKind::kVariant, text, typed,
        [&](const SegmentView& segment) { return FindWord(segment, t); }, bound_.term_weight[t],
        bound_.query.term_boost[t]));
  }

  // What counts beside the words of the query, such as an exact form; said only where the item holds it.
  void AddAside(size_t t) {
    const std::string& term = bound_.query.terms[t];
    Weighed weighed = Weigh(
        ExplainedKind::kVariant, IsForm(term) ? absl::StrCat("=", term.substr(1)) : term,
        bound_.query.readings[t].typed, [&](const SegmentView& segment) { return FindWord(segment, t); },
        bound_.term_weight[t], bound_.query.term_boost[t], bound_.query.term_scopes[t]);
    if (weighed.score > 0) Count(std::move(weighed));
  }

  void AddVariants(size_t t) {
    const std::string& typed = bound_.query.terms[t];
    std::vector<Weighed> all;
    for (const BoundVariant& variant : bound_.variants[t]) {
      const double times = bound_.query.term_boost[t];
      if (!variant.found_second.empty()) {
        const TermIndex first = variant.found[segment_.number],
                        second = variant.found_second[segment_.number];
        std::vector<PhraseCursor::Word> words;
        if (first != kNoTerm && second != kNoTerm) words = {{first, 0}, {second, 1}};
        all.push_back(WeighPhrase(ExplainedKind::kVariant, absl::StrCat(variant.term, " ", variant.second),
                                  typed, words, variant.weight, times));
        continue;
      }
      all.push_back(Weigh(
          variant.term == typed ? ExplainedKind::kWord : ExplainedKind::kVariant, variant.term, typed,
          [&](const SegmentView& segment) { return variant.found[segment.number]; }, variant.weight, times,
          variant.scope));
    }
    // Of up to 50, those that the item holds; of none, the first speaks for all.
    std::vector<Weighed> held;
    for (Weighed& one : all) {
      if (one.score > 0) held.push_back(std::move(one));
    }
    if (held.empty()) held.push_back(std::move(all.front()));
    CountBest(std::move(held));
  }

  std::string TextOf(const BoundPhrase& way) const {
    std::vector<std::string> words;
    for (const QueryPhrase::Word& word : way.words) words.push_back(bound_.query.terms[word.term]);
    return absl::StrJoin(words, " ");
  }

  // In each of the ways in which it may be written that the item holds; of none, the first speaks for all.
  void AddPhrase(size_t p) {
    const std::string typed = TextOf(bound_.phrases[p][0]);
    std::vector<Weighed> held, missing;
    for (const BoundPhrase& way : bound_.phrases[p]) {
      Weighed weighed =
          WeighPhrase(ExplainedKind::kPhrase, TextOf(way), typed, WordsOfWay(segment_, bound_, way),
                      way.weight, bound_.query.phrase_boost[p],
                      {bound_.WeightsIn(segment_, way.scope), bound_.query.phrases[p].slop});
      (weighed.score > 0 ? held : missing).push_back(std::move(weighed));
    }
    if (held.empty()) held.push_back(std::move(missing.front()));
    CountBest(std::move(held));
  }

  // What is typed together against each of the others.
  void AddSynonyms(size_t place) {
    const QuerySynonyms& query = bound_.query.synonyms[place];
    std::vector<Weighed> typed, others;
    int64_t sum = 0;
    for (size_t w = 0; w < query.typed.size(); ++w) {
      const uint32_t t = query.typed[w];
      const std::string& text = bound_.query.terms[t];
      typed.push_back(Weigh(
          ExplainedKind::kWord, text, text, [&](const SegmentView& segment) { return FindWord(segment, t); },
          bound_.synonyms[place].typed_weight[w], query.boost));
      sum += typed.back().score;
    }
    for (const BoundSynonym& other : bound_.synonyms[place].others) {
      const std::string text = absl::StrJoin(other.terms, " ");
      if (other.terms.size() == 1) {
        others.push_back(Weigh(
            ExplainedKind::kSynonym, text, query.text,
            [&](const SegmentView& segment) { return other.found[segment.number][0]; }, other.weight,
            query.boost));
      } else {
        others.push_back(WeighPhrase(
            ExplainedKind::kSynonym, text, query.text,
            other.MissingIn(segment_) ? std::vector<PhraseCursor::Word>() : other.WordsIn(segment_),
            other.weight, query.boost));
      }
    }
    const auto best = std::max_element(others.begin(), others.end(),
                                       [](const Weighed& a, const Weighed& b) { return a.score < b.score; });
    const bool typed_counts = best == others.end() || best->score <= sum;
    const std::string better = typed_counts ? query.text : best->term.term;
    for (Weighed& word : typed) typed_counts ? Count(std::move(word)) : LeaveOut(std::move(word), better);
    for (auto it = others.begin(); it != others.end(); ++it) {
      if (!typed_counts && it == best) {
        Count(std::move(*it));
      } else {
        LeaveOut(std::move(*it), better);
      }
    }
  }

  const IndexSnapshot& snapshot_;
  const BoundQuery& bound_;
  const SegmentView& segment_;
  const DocNumber doc_;
  const float length_;
  int64_t total_ = 0;
  std::vector<TermExplanation> terms_;
};

}  // namespace

std::vector<std::optional<ScoreExplanation>> ExplainScores(const IndexSnapshot& snapshot,
                                                           const BoundQuery& bound, const Bm25Options& bm25,
                                                           absl::Span<const ItemOrdinal> items,
                                                           Deadline deadline) {
  std::vector<std::optional<ScoreExplanation>> explained(items.size());
  for (size_t i = 0; i < items.size() && !deadline.Expired(); ++i) {
    for (const SegmentView& segment : snapshot.segments) {
      const auto doc = segment.postings->Find(items[i]);
      if (!doc || !segment.live->Contains(*doc)) continue;
      ScoreExplainer explainer(snapshot, bound, segment, *doc);
      ScoreExplanation& out = explained[i].emplace();
      out.item = items[i];
      out.terms = explainer.Explain();
      out.score = explainer.score();
      out.documents = snapshot.documents;
      out.length = (*segment.lengths)[*doc];
      out.average_length = snapshot.average_length;
      out.k1 = bm25.k1;
      out.b = bm25.b;
      out.length_norm = bound.lengths.Norm((*segment.lengths)[*doc]);
      break;
    }
  }
  return explained;
}

}  // namespace waymark
