#include "candidates/signals.h"

#include <algorithm>
#include <limits>

namespace waymark {
namespace {

constexpr std::array<std::string_view, kSignalCount> kSignalNames = {
    "keyword_score",
    "keyword_coverage",
    "keyword_title",
    "keyword_title_match",
    "keyword_proximity",
    "retriever_score",
    "covisitation_score",
    "transition_score",
    "popularity_score",
    "similar_score",
    "transition_second_last",
    "covisitation_last",
    "covisitation_second_last",
    "log_count",
    "log_recent_count",
    "cosine_last",
    "cosine_max_last5",
    "cosine_max_last20",
    "history_length",
    "category_affinity",
    "category_affinity_last5",
    "title_overlap",
    "year",
    "year_distance",
    "item_age",
    "decayed_ease",
};
static_assert(!kSignalNames.back().empty(), "every signal has a name");

}  // namespace

std::string_view SignalName(Signal signal) { return kSignalNames[static_cast<size_t>(signal)]; }

std::optional<Signal> FindSignal(std::string_view name) {
  const auto found = std::find(kSignalNames.begin(), kSignalNames.end(), name);
  if (found == kSignalNames.end()) return std::nullopt;
  return static_cast<Signal>(found - kSignalNames.begin());
}

SignalValues MissingSignals() {
  SignalValues values;
  values.fill(std::numeric_limits<float>::quiet_NaN());
  return values;
}

}  // namespace waymark
