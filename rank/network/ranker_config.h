// The shape of the ranker's network, as it stands in a package's `network` map.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

struct RankerConfig {
  int64_t features = 0;         // columns of the feature table
  int64_t width = 32;           // of item, query word and attention vectors
  int64_t attention_heads = 2;  // divides width
  int64_t history = 20;         // newest events
  int64_t query_words = 16;     // first words of the query
  int64_t hidden1 = 64, hidden2 = 32;
  int64_t items = 0;            // rows of the vocabulary
  int64_t content_buckets = 0;  // rows that hashes of title words and categories fall into; 0: none
  int64_t query_buckets = 0;    // the same of query words
  int64_t event_types = 64;     // slots: codes below 32 have one each, others share the upper half
  double clip = 6;              // standardised features are cut here
  std::vector<std::string> heads = {"engagement"};
};

// Slot of an event type: built-in codes have one each.
inline int64_t EventTypeSlot(uint32_t code, int64_t slots) {
  const int64_t half = slots / 2;
  return code < half ? code : half + code % half;
}

// Keys are the members' names, and "head:NAME" for each head.
void WriteRankerConfig(const RankerConfig& config, storage::ModelManifest* manifest);
// INVALID_ARGUMENT names a key that is unknown, missing, or out of bounds.
absl::StatusOr<RankerConfig> ReadRankerConfig(const storage::ModelManifest& manifest);

}  // namespace waymark
