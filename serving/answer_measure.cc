#include "serving/answer_measure.h"

#include <algorithm>
#include <vector>

namespace waymark {
namespace {

// As far as people look.
constexpr size_t kDiversityDepth = 10;

// An answer that failed through no fault of its caller.
bool IsOurError(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

bool Share(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&b](uint64_t one) { return std::find(b.begin(), b.end(), one) != b.end(); });
}

// Share of pairs among the first results that have no category in common; 0 with less than two.
double Diversity(const Catalog& catalog, const std::vector<RankedItem>& results) {
  std::vector<ItemOrdinal> items;
  for (const RankedItem& result : results) {
    if (items.size() == kDiversityDepth) break;
    if (result.item != kNoItem) items.push_back(result.item);
  }
  if (items.size() < 2) return 0;
  std::vector<std::vector<uint64_t>> titles, categories;
  catalog.ReadContent(items, &titles, &categories);
  size_t pairs = 0, different = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      ++pairs;
      different += !Share(categories[i], categories[j]);
    }
  }
  return static_cast<double>(different) / static_cast<double>(pairs);
}

}  // namespace

std::optional<ServedAnswer> MeasureAnswer(const Catalog& catalog,
                                          const absl::StatusOr<PipelineResponse>& answer,
                                          absl::Duration latency) {
  if (!answer.ok()) {
    if (!IsOurError(answer.status().code())) return std::nullopt;
    return ServedAnswer{.latency = latency, .error = true};
  }
  return ServedAnswer{
      .latency = latency, .empty = answer->items.empty(), .diversity = Diversity(catalog, answer->items)};
}

}  // namespace waymark
