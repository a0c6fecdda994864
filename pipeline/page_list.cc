#include "pipeline/page_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pipeline/request_check.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

std::string MakePageToken(const SigningKey& key, const PipelineRequest& request, const PageList& list,
                          absl::Time now) {
  storage::PageState state;
  state.set_request_sha256(RequestFingerprint(request));
  state.set_release_id(list.release_id);
  const size_t size = std::min(list.items.size(), kMaxPagedItems);
  for (size_t i = 0; i < size; ++i) {
    state.add_items(list.items[i]);
    state.add_scores(list.scores[i]);
  }
  state.set_next(static_cast<int32_t>(list.next));
  state.set_time_us(absl::ToUnixMicros(now));
  state.set_request_id(list.request_id);
  state.set_total_size(list.total);
  state.set_total_exact(list.total_exact);
  for (const uint32_t group : list.group_sizes) state.add_group_sizes(group);
  for (const uint32_t place : list.pinned) {
    if (place < size) state.add_pinned(place);
  }
  for (size_t i = 0; i < std::min(size, list.explored.size()); ++i) *state.add_explored() = list.explored[i];
  return key.Sign("page_token", state);
}

absl::StatusOr<PageList> ReadPageToken(const SigningKey& key, const PipelineRequest& request,
                                       absl::Time now) {
  storage::PageState state;
  if (auto status = key.Verify("page_token", request.page_token, &state); !status.ok()) return status;
  if (state.request_sha256() != RequestFingerprint(request)) {
    return absl::InvalidArgumentError(
        "page_token: belongs to a request with other arguments; send the same request, or start without a "
        "token");
  }
  const absl::Duration age = now - absl::FromUnixMicros(state.time_us());
  if (age > kPageLife) {
    return absl::FailedPreconditionError(absl::StrCat(
        "page_token: has expired (made ", absl::FormatDuration(absl::Trunc(age, absl::Seconds(1))),
        " ago); start again without a token"));
  }
  if (state.items_size() != state.scores_size() || state.next() < 0 || state.next() > state.items_size()) {
    return absl::InvalidArgumentError("page_token: is damaged");
  }
  int64_t grouped = 0;
  for (const uint32_t group : state.group_sizes()) grouped += group;
  if (grouped != (request.group_by ? state.items_size() : 0)) {
    return absl::InvalidArgumentError("page_token: is damaged");
  }
  if (state.explored_size() != 0 && state.explored_size() != state.items_size()) {
    return absl::InvalidArgumentError("page_token: is damaged");
  }
  PageList list;
  list.explored.assign(state.explored().begin(), state.explored().end());
  list.group_sizes.assign(state.group_sizes().begin(), state.group_sizes().end());
  list.pinned.assign(state.pinned().begin(), state.pinned().end());
  list.items.assign(state.items().begin(), state.items().end());
  list.scores.assign(state.scores().begin(), state.scores().end());
  list.next = state.next();
  list.release_id = state.release_id();
  list.request_id = state.request_id();
  list.total = state.total_size();
  list.total_exact = state.total_exact();
  return list;
}

}  // namespace waymark
