// How the score that a search gives an item came about, term by term.
//
//   auto explained = ExplainScores(*snapshot, bound, bm25, {7});
//   explained[0]->score;               // the sum of the contributions of its terms
//   explained[0]->terms[0].idf;
//
// Contributions are the very numbers that searches add up, so the sum is the score to the bit; each is
// idf * times * tf / (tf + length_norm) (index/bm25.h) within 1e-5.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/ids.h"

namespace waymark {

struct TermExplanation {
  enum class Kind {
    kWord,
    kVariant,  // what a word stands for by typing errors, or as a beginning
    kSynonym,  // what stands beside a word
    kPhrase
  };
  struct FieldFrequency {
    std::string field;
    double weight = 1;
    double frequency = 0;  // not whole for phrases whose words are moved
  };
  Kind kind = Kind::kWord;
  std::string term;            // as the index holds it; of phrases the terms with spaces between
  std::string typed;           // the query's own, where another is found
  int64_t documents_with = 0;  // 0 for phrases, whose idf is the sum of their words'
  double idf = 0;              // with what variants and synonyms lose
  double times = 1;            // how often the query has it, times its boosts
  double tf = 0;               // sum over fields of weight * frequency
  std::vector<FieldFrequency> fields;
  double contribution = 0;
  std::string left_out;  // why it adds nothing; empty: it counts
};

struct ScoreExplanation {
  ItemOrdinal item = kNoItem;
  double score = 0;
  int64_t documents = 0;  // live ones
  double length = 0;      // of the item: sum over fields of weight * number of terms
  double average_length = 0;
  double k1 = 0, b = 0;
  double length_norm = 0;  // k1 * (1 - b + b * length / average_length)
  std::vector<TermExplanation> terms;
};

}  // namespace waymark
