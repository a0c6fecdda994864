// Whether a request can be answered at all. Pure; errors name the field, what it holds and what it takes.
#pragma once
#include <string>

#include "absl/status/statusor.h"
#include "pipeline/request.h"

namespace waymark {

inline constexpr int kMaxPageSize = 100;
inline constexpr int kMaxRelaxBelow = 1000;
inline constexpr int kDefaultSearchPage = 10, kDefaultFeedPage = 20;
inline constexpr size_t kMaxGivenCandidates = 1000;
inline constexpr size_t kMaxGivenItems = 100;  // context, positive and negative items, each

absl::Status CheckRequest(const PipelineRequest& request);

// The page size that counts (AIP-158): 0 is the default, more than the maximum is the maximum.
int EffectivePageSize(const PipelineRequest& request);

// SHA-256 over every argument that a page token is bound to: all but the page token, the page size, the
// consistency token and the fields to return.
std::string RequestFingerprint(const PipelineRequest& request);

}  // namespace waymark
