// The features of the ranker: one definition for training and serving. Computed from RequestContext and
// Candidate only, so that what a model saw in training is what it sees in a request.
//
//   const FeatureTable& table = FeatureTable::Current();
//   std::vector<float> rows(candidates.size() * table.size());
//   table.Compute(context, candidates, absl::MakeSpan(rows));
//
// Formulas, for a signal x over the candidates of one list (a value that is not finite counts as missing):
//   NAME           x                                             missing: 0
//   NAME.log       ln(1e-4 + max(x, 0))                          missing: ln(1e-4)
//   NAME.present   1                                             missing: 0
//   NAME.z         (x - mean) / deviation, over those that have it; 0 when the deviation is 0; missing: 0
//   NAME.rank      -ln(rank of x in the list, 1 is the largest, ties share the middle rank);
//                  missing: -ln(1 + number of those that have it)
//   request.NAME   the same for all candidates
// None depends on the order of the candidates. Standardisation belongs to the model (its own mean and scale).
#pragma once
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "candidates/candidate.h"
#include "candidates/request_context.h"

namespace waymark {

// One column: what it reads and how.
struct Feature {
  enum class Kind {
    kSignal,         // the signal itself
    kLogSignal,      // its logarithm: of probabilities and counts that are mostly near 0
    kSignalPresent,  // 1 when the signal is there
    kZScore,         // (signal - mean) / deviation within the list
    kLogRank,        // -log(rank within the list)
    kRequest,        // the same for all candidates of a request
  };
  std::string name;
  Kind kind;
  Signal signal = Signal::kCount;  // kCount with kZScore: the fusion score
};

// A fixed table; thread-safe.
class FeatureTable {
 public:
  // The table that new rankers are trained with.
  static const FeatureTable& Current();
  // Columns by name, for an older package; INVALID_ARGUMENT names features that this program does not know,
  // that come twice, or an empty list.
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
