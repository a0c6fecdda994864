#include "index/bound_query.h"

namespace waymark {

BoundQuery BindQuery(ParsedQuery query, const IndexSnapshot& snapshot, const Bm25Options& bm25,
                     Deadline deadline) {
  BoundQuery bound{std::move(query), {}, {}, Bm25Lengths(bm25, snapshot.average_length)};
  const ParsedQuery& parsed = bound.query;
  std::vector<double> idf(parsed.terms.size());
  for (size_t t = 0; t < parsed.terms.size(); ++t) {
    if (!parsed.asked[t]) continue;
    // Counting may walk postings where documents were deleted since their segment was compiled.
    if (deadline.Expired()) {
      bound.complete = false;
      return bound;
    }
    const int64_t documents = snapshot.DocumentCount(parsed.terms[t]);
    if (documents > 0) idf[t] = Bm25Idf(snapshot.documents, documents);
  }
  for (size_t t = 0; t < parsed.terms.size(); ++t) {
    bound.term_idf.push_back(static_cast<float>(idf[t] * parsed.term_times[t]));
  }
  for (size_t p = 0; p < parsed.phrases.size(); ++p) {
    double sum = 0;
    for (const QueryPhrase::Word& word : parsed.phrases[p].words) sum += idf[word.term];
    bound.phrase_idf.push_back(static_cast<float>(sum * parsed.phrase_times[p]));
  }
  return bound;
}

std::vector<PhraseCursor::Word> PhraseWords(const CompiledSegment& segment, const ParsedQuery& query,
                                            const QueryPhrase& phrase) {
  std::vector<PhraseCursor::Word> words;
  for (const QueryPhrase::Word& word : phrase.words) {
    auto term = segment.FindTerm(query.terms[word.term]);
    if (!term) return {};
    words.push_back({*term, word.offset});
  }
  return words;
}

}  // namespace waymark
