// Finds out which terms the words of a query stand for, and which of the words are misspelled. The rules are
// in docs/queries.md.
#pragma once
#include <vector>

#include "index/bound_query.h"

namespace waymark {

// A word that more documents hold is never taken for misspelled.
inline constexpr int64_t kFewDocuments = 5;
// A word that fewer hold is, where another one, as near as it may be, is in so many times as many.
inline constexpr int64_t kFarMoreFrequent = 100;
// Terms that one word stands for at most: where it is taken for misspelled, and where the query asks for it.
inline constexpr size_t kMaxCorrections = 10, kMaxVariants = 50;
// What a term counts for, of its idf, that is not what was typed, and for each error more than the nearest
// term has.
inline constexpr double kOtherTerm = 0.9, kEachMoreEdit = 0.25;

// Fills bound->variants, corrections and, for words that stand for one other term, found_terms.
// idf: [terms], of the terms as they are; becomes the most that the word counts for. False: the deadline
// came.
bool ExpandQuery(const IndexSnapshot& snapshot, TypoTolerance typos, Deadline deadline,
                 std::vector<double>* idf, BoundQuery* bound);

}  // namespace waymark
