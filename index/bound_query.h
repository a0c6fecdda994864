// A parsed query with the statistics of one snapshot.
//
// Immutable; thread-safe.
#pragma once
#include <memory>
#include <vector>

#include "candidates/deadline.h"
#include "index/index_snapshot.h"
#include "index/phrase_leaf.h"
#include "index/query_leaf.h"
#include "index/query_parser.h"

namespace waymark {

struct BoundQuery {
  ParsedQuery query;
  std::vector<float> term_idf;    // [terms]: idf * term_times; 0 for words that are there to exclude
  std::vector<float> phrase_idf;  // [phrases]: sum of idf * phrase_times
  Bm25Lengths lengths;
  bool complete = true;  // false: the deadline came while statistics were counted, nothing may be searched
};

BoundQuery BindQuery(ParsedQuery query, const IndexSnapshot& snapshot, const Bm25Options& bm25,
                     Deadline deadline);

// The words of a phrase in a segment; empty when the segment lacks one of them.
std::vector<PhraseCursor::Word> PhraseWords(const CompiledSegment& segment, const ParsedQuery& query,
                                            const QueryPhrase& phrase);

}  // namespace waymark
