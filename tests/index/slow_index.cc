#include "tests/index/slow_index.h"

#include <cmath>
#include <sstream>

namespace waymark::tests {

std::vector<std::string> SplitPlain(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

void SlowIndex::Put(ItemOrdinal item, std::vector<SlowField> fields) {
  items_[item] = std::move(fields);
  idf_.clear();
  average_length_ = 0;
}

void SlowIndex::Delete(ItemOrdinal item) {
  items_.erase(item);
  idf_.clear();
  average_length_ = 0;
}

void SlowIndex::PutPlain(ItemOrdinal item, const std::vector<std::string>& fields) {
  std::vector<SlowField> split;
  for (const std::string& text : fields) {
    SlowField field;
    for (const std::string& word : SplitPlain(text)) field[static_cast<uint32_t>(field.size())] = word;
    split.push_back(std::move(field));
  }
  Put(item, std::move(split));
}

double SlowIndex::WordFrequency(const std::vector<SlowField>& fields, const std::string& word) const {
  double frequency = 0;
  for (size_t f = 0; f < fields.size(); ++f) {
    for (const auto& [position, held] : fields[f]) frequency += held == word ? weights_[f] : 0;
  }
  return frequency;
}

double SlowIndex::PhraseFrequency(const std::vector<SlowField>& fields,
                                  const std::vector<std::string>& words) const {
  double frequency = 0;
  for (size_t f = 0; f < fields.size(); ++f) {
    for (const auto& [start, first] : fields[f]) {
      bool whole = true;
      for (uint32_t i = 0; i < words.size(); ++i) {
        auto at = fields[f].find(start + i);
        whole = whole && at != fields[f].end() && at->second == words[i];
      }
      frequency += whole ? weights_[f] : 0;
    }
  }
  return frequency;
}

double SlowIndex::Length(const std::vector<SlowField>& fields) const {
  double length = 0;
  for (size_t f = 0; f < fields.size(); ++f) length += weights_[f] * static_cast<double>(fields[f].size());
  return length;
}

double SlowIndex::AverageLength() const {
  if (average_length_ > 0) return average_length_;
  double total = 0;
  for (const auto& [item, fields] : items_) total += Length(fields);
  return average_length_ = total / static_cast<double>(items_.size());
}

double SlowIndex::Idf(const std::string& word) const {
  if (auto counted = idf_.find(word); counted != idf_.end()) return counted->second;
  double holders = 0;
  for (const auto& [item, fields] : items_) holders += WordFrequency(fields, word) > 0 ? 1 : 0;
  return idf_[word] = std::log(1 + (static_cast<double>(items_.size()) - holders + 0.5) / (holders + 0.5));
}

bool SlowIndex::Holds(ItemOrdinal item, const std::string& word) const {
  return WordFrequency(items_.at(item), word) > 0;
}

bool SlowIndex::HoldsPhrase(ItemOrdinal item, const std::vector<std::string>& words) const {
  return PhraseFrequency(items_.at(item), words) > 0;
}

double SlowIndex::Score(ItemOrdinal item, const std::map<std::string, int>& words,
                        const std::vector<std::vector<std::string>>& phrases) const {
  const std::vector<SlowField>& fields = items_.at(item);
  const double norm = 1.2 * (1 - 0.75 + 0.75 * Length(fields) / AverageLength());
  double score = 0;
  for (const auto& [word, times] : words) {
    const double frequency = WordFrequency(fields, word);
    if (frequency > 0) score += times * Idf(word) * frequency / (frequency + norm);
  }
  for (const std::vector<std::string>& phrase : phrases) {
    double idf = 0;
    for (const std::string& word : phrase) idf += Idf(word);
    const double frequency = PhraseFrequency(fields, phrase);
    if (frequency > 0) score += idf * frequency / (frequency + norm);
  }
  return score;
}

}  // namespace waymark::tests
