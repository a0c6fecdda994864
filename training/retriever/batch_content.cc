#include "training/retriever/batch_content.h"

#include <algorithm>

namespace waymark {

void BatchContent::Collect(absl::Span<const int64_t> items) {
  touched_.Clear();
  of_items_.starts.assign(1, 0);
  of_items_.buckets.clear();
  for (int64_t item : items) {
    for (uint32_t bucket : content_->Of(item)) touched_.Place(bucket);
  }
  std::vector<int64_t> ascending = touched_.rows();
  std::sort(ascending.begin(), ascending.end());
  touched_.Clear();
  for (int64_t bucket : ascending) touched_.Place(bucket);
  for (int64_t item : items) {
    for (uint32_t bucket : content_->Of(item)) {
      of_items_.buckets.push_back(static_cast<uint32_t>(touched_.Place(bucket)));
    }
    of_items_.starts.push_back(of_items_.buckets.size());
  }
}

const ContentBuckets& BatchContent::PlacesIn(const std::vector<int64_t>& places) {
  found_.starts = of_items_.starts;
  found_.buckets.clear();
  for (uint32_t place : of_items_.buckets) found_.buckets.push_back(static_cast<uint32_t>(places[place]));
  return found_;
}

}  // namespace waymark
