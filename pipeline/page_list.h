// The ranked list that pages are cut from, and the token that carries it from page to page: self-contained,
// so any replica answers the next page, also after a restart.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pipeline/request.h"
#include "pipeline/signed_token.h"

namespace waymark {

inline constexpr size_t kMaxPagedItems = 500;
inline constexpr absl::Duration kPageLife = absl::Hours(1);

struct PageList {
  std::vector<ItemOrdinal> items;  // the whole list, in order; at most kMaxPagedItems go into a token
  std::vector<float> scores;
  size_t next = 0;  // where the next page starts
  std::string release_id, request_id;
  int64_t total = -1;
  bool total_exact = true;
  std::vector<uint32_t> group_sizes;           // of grouped lists: they add up to the items; empty otherwise
  std::vector<uint32_t> pinned;                // places in `items`, in order
  std::vector<storage::Exploration> explored;  // of each item; empty: the list does not explore
};

std::string MakePageToken(const SigningKey& key, const PipelineRequest& request, const PageList& list,
                          absl::Time now);
// INVALID_ARGUMENT: no token of ours, or other arguments than the first page had. FAILED_PRECONDITION: older
// than kPageLife.
absl::StatusOr<PageList> ReadPageToken(const SigningKey& key, const PipelineRequest& request, absl::Time now);

}  // namespace waymark
