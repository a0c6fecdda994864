// An item that a source has found for a request, with what is known of it.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "candidates/signals.h"
#include "catalog/scored_item.h"
#include "store/ids.h"

namespace waymark {

// Where candidates come from. The bit and the name are in ServeRecords and answers: they keep their meaning.
enum class SourceId : unsigned {
  kKeyword,
  kRetriever,
  kCovisitation,
  kTransition,
  kPopularity,
  kSimilar,
  kFresh,
  kEase,
  kCount
};
inline constexpr size_t kSourceCount = static_cast<size_t>(SourceId::kCount);
std::string_view SourceName(SourceId id);  // "keyword", "retriever", "covisitation", ...

// The rank of an item in a source's list, from 1; 0: not in it.
using SourceRanks = std::array<uint16_t, kSourceCount>;

struct Candidate {
  ItemOrdinal item = kNoItem;
  SourceRanks ranks{};
  SignalValues signals = MissingSignals();
  float fusion_score = 0;                                 // reciprocal-rank fusion over the sources
  float score = std::numeric_limits<float>::quiet_NaN();  // the ranker's
  bool FoundBy(SourceId id) const { return ranks[static_cast<size_t>(id)] != 0; }
};

}  // namespace waymark
