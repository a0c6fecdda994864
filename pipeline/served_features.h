// The sampled part of a ServeRecord: every candidate with its features as the ranker saw them, in half
// precision.
#pragma once
#include <vector>

#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/request_context.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

// IEEE 754 binary16, rounded to nearest even; values beyond its range become infinities.
uint16_t ToHalf(float value);
float FromHalf(uint16_t bits);

// Fills candidates, features_fp16 ([candidates, features] row by row, little-endian) and features_sha256.
void AddServedFeatures(const RequestContext& context, absl::Span<const Candidate> candidates,
                       storage::ServeRecord* record);

}  // namespace waymark
