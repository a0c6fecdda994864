// The same answers as the index gives, by the definitions, looking at every word of every document: what the
// fast code is held against. Shares no code with it beyond what splits text into terms.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "store/ids.h"

namespace waymark::tests {

// Words with their positions, of one field.
using SlowField = std::map<uint32_t, std::string>;

class SlowIndex {
 public:
  explicit SlowIndex(std::vector<double> weights) : weights_(std::move(weights)) {}

  // fields: [weights]
  void Put(ItemOrdinal item, std::vector<SlowField> fields);
  // Words between single spaces.
  void PutPlain(ItemOrdinal item, const std::vector<std::string>& fields);
  void Delete(ItemOrdinal item);

  bool Holds(ItemOrdinal item, const std::string& word) const;
  bool HoldsPhrase(ItemOrdinal item, const std::vector<std::string>& words) const;
  // BM25, k1 1.2, b .75, of words by the number of times that the query has them, and of phrases as one word
  // whose idf is the sum of its words'.
  double Score(ItemOrdinal item, const std::map<std::string, int>& words,
               const std::vector<std::vector<std::string>>& phrases = {}) const;
  const std::map<ItemOrdinal, std::vector<SlowField>>& items() const { return items_; }

 private:
  double WordFrequency(const std::vector<SlowField>& fields, const std::string& word) const;
  double PhraseFrequency(const std::vector<SlowField>& fields, const std::vector<std::string>& words) const;
  double Length(const std::vector<SlowField>& fields) const;
  double Idf(const std::string& word) const;
  double AverageLength() const;

  std::vector<double> weights_;
  std::map<ItemOrdinal, std::vector<SlowField>> items_;
  // Counted once, until something changes.
  mutable std::map<std::string, double> idf_;
  mutable double average_length_ = 0;
};

std::vector<std::string> SplitPlain(const std::string& text);

}  // namespace waymark::tests
