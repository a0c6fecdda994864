#include "pipeline/fresh_source.h"

namespace waymark {

absl::StatusOr<SourceAnswer> FreshSource::Find(const RequestContext& context, size_t limit,
                                               Deadline deadline) const {
  SourceAnswer answer;
  const ItemOrdinal end = store_->ItemEnd(scope_);
  size_t looked = 0;
  for (ItemOrdinal i = end; i > 0 && answer.items.size() < limit && looked < kMaxLook; --i, ++looked) {
    if (looked % 4096 == 4095 && deadline.Expired()) {
      answer.complete = false;
      break;
    }
    const ItemOrdinal item = i - 1;
    if (!context.MayShow(item) || !catalog_->Live(item)) continue;
    answer.items.push_back({item, 1.0f / static_cast<float>(end - item)});
  }
  return answer;
}

}  // namespace waymark
