#include "index/phrase_search.h"

namespace waymark {

bool PhraseSearch::Serves(const BoundQuery& query, const HitCollector&) {
  const QueryNode& root = *query.query.root;
  return root.kind == QueryNode::Kind::kPhrase && IsPlainPhrase(query.query.phrases[root.index]);
}

bool PhraseSearch::Run(const BoundQuery& query, const SegmentView& segment, HitCollector* hits) {
  const size_t phrase = query.query.root->index;
  const auto words = PhraseWords(segment, query, phrase);
  if (words.empty()) return true;
  PhraseCursor cursor(segment, words, query.Phrase(phrase), query.average_length);
  const HugePageVector<float>& lengths = *segment.lengths;
  FixedScore needed = hits->counts_all() ? 0 : hits->NeededFrom(0);
  for (DocNumber doc = 0; doc < segment.postings->doc_count(); ++doc) {
    doc = cursor.AdvanceToWords(doc, needed);
    if (!hits->Spend(cursor.TakeWork())) return false;
    if (doc == kNoDoc) return true;
    __builtin_prefetch(segment.postings->ordinal_address(doc));
    if (needed > 0 && !cursor.MayScore(needed, lengths[doc])) continue;
    const float frequency = cursor.Frequency();
    if (frequency == 0) continue;
    hits->Offer(doc, cursor.scorer().Score(frequency, lengths[doc]));
    if (!hits->counts_all()) needed = hits->NeededFrom(doc);
  }
  return true;
}

}  // namespace waymark
