// The features of the ranker: one definition for training and serving. Computed from RequestContext and
// Candidate only.
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/request_context.h"

namespace waymark {

// One column: name, what it reads, what stands for a missing value, how it is scaled before standardisation.
struct Feature {
  enum class Kind {
    kSignal,         // the signal itself
    kSignalPresent,  // 1 when the signal is there
    kZScore,         // (signal - mean) / deviation within the list, 0 where it is missing
    kLogRank,        // -log(rank in the source's list); a rank one past the list's end where it is missing
    kRequest,        // the same for all candidates of a request
  };
  std::string name;
  Kind kind;
  Signal signal = Signal::kCount;
  SourceId source = SourceId::kCount;
};

// A fixed table; thread-safe.
class FeatureTable {
 public:
  // The table that new rankers are trained with.
  static const FeatureTable& Current();
  // Columns by name, for an older package; INVALID_ARGUMENT names features that this program does not know.
  static absl::StatusOr<FeatureTable> FromNames(const std::vector<std::string>& names);

  const std::vector<Feature>& features() const { return features_; }
  size_t size() const { return features_.size(); }
  std::vector<std::string> Names() const;
  // SHA-256 over names, kinds and rules: a package is refused when its own differs.
  const std::string& sha256() const { return sha256_; }
  // out: [candidates, size()], unscaled, finite.
  void Compute(const RequestContext& context, absl::Span<const Candidate> candidates,
               absl::Span<float> out) const;

 private:
  explicit FeatureTable(std::vector<Feature> features);
  std::vector<Feature> features_;
  std::string sha256_;
};

}  // namespace waymark
