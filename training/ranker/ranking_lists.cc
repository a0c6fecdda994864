#include "training/ranker/ranking_lists.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

bool Finite(absl::Span<const float> values) {
  for (float v : values) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

template <typename T>
void Append(absl::Span<const T> from, std::vector<T>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

}  // namespace

size_t RankingLists::bytes() const {
  return lists_.size() * sizeof(Start) + (rows_.size() + gains_.size()) * sizeof(float) +
         (candidates_.size() + history_.size()) * sizeof(ItemOrdinal) +
         types_.size() * sizeof(EventTypeCode) + query_.size() * sizeof(uint64_t);
}

absl::Status RankingLists::Add(const RankingList& list) {
  const size_t n = list.candidates.size();
  if (list.features.size() != n * features_ || list.gains.size() != n) {
    return absl::InvalidArgumentError(absl::StrCat("a list of ", n, " candidates has ", list.features.size(),
                                                   " feature values and ", list.gains.size(),
                                                   " gains; it takes ", n * features_, " and ", n));
  }
  if (list.types.size() != list.history.size()) {
    return absl::InvalidArgumentError(absl::StrCat("a list has ", list.history.size(), " history items but ",
                                                   list.types.size(), " event types"));
  }
  if (!Finite(list.features) || !Finite(list.gains)) {
    return absl::InvalidArgumentError("a list has a feature or a gain that is not finite");
  }
  float total = 0;
  for (float gain : list.gains) {
    if (gain < 0)
      return absl::InvalidArgumentError(absl::StrCat("a gain is ", gain, "; gains are not negative"));
    total += gain;
  }
  if (!(total > 0)) return absl::InvalidArgumentError("no candidate of a list has a gain");
  const size_t more = sizeof(Start) + n * ((features_ + 1) * sizeof(float) + sizeof(ItemOrdinal)) +
                      list.history.size() * (sizeof(ItemOrdinal) + sizeof(EventTypeCode)) +
                      list.query.size() * sizeof(uint64_t);
  if (bytes() + more > options_.limit_bytes) {
    ++over_limit_;
    return absl::ResourceExhaustedError(
        absl::StrCat("ranking lists: ", size(), " lists fill the limit of ", options_.limit_bytes, " bytes"));
  }
  lists_.push_back({candidates_.size(), history_.size(), query_.size(), static_cast<uint32_t>(n),
                    static_cast<uint32_t>(list.history.size()), static_cast<uint32_t>(list.query.size()),
                    list.time_us, list.position, list.user});
  Append(list.features, &rows_);
  Append(list.candidates, &candidates_);
  Append(list.gains, &gains_);
  Append(list.history, &history_);
  Append(list.types, &types_);
  Append(list.query, &query_);
  if (!list.query.empty()) ++with_query_;
  return absl::OkStatus();
}

RankingList RankingLists::operator[](size_t i) const {
  const Start& s = lists_[i];
  RankingList list;
  list.features = absl::MakeConstSpan(rows_).subspan(s.candidate * features_, s.candidates * features_);
  list.candidates = absl::MakeConstSpan(candidates_).subspan(s.candidate, s.candidates);
  list.gains = absl::MakeConstSpan(gains_).subspan(s.candidate, s.candidates);
  list.history = absl::MakeConstSpan(history_).subspan(s.history, s.histories);
  list.types = absl::MakeConstSpan(types_).subspan(s.history, s.histories);
  list.query = absl::MakeConstSpan(query_).subspan(s.query, s.queries);
  list.time_us = s.time_us;
  list.position = s.position;
  list.user = s.user;
  return list;
}

void RankingLists::Clear() {
  lists_.clear();
  rows_.clear();
  candidates_.clear();
  history_.clear();
  gains_.clear();
  types_.clear();
  query_.clear();
  with_query_ = without_target_ = over_limit_ = 0;
}

}  // namespace waymark
