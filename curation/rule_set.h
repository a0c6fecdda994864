// Rules of a collection as requests look them up: by the words of their conditions, so that what a request
// costs grows with its query and not with the rules.
//
//   RuleSet rules = RuleSet().With({}, {rule});
//   rules.Match({.terms = QueryTerms(query, analyzer), .context = &context, .now = now});   // first what
//   counts first
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "catalog/targeting.h"
#include "google/protobuf/struct.pb.h"
#include "index/analyzer.h"
#include "index/sequence_map.h"
#include "waymark/storage/curation.pb.h"

namespace waymark {

struct CompiledRule {
  std::string id;
  storage::RuleRecord record;
  std::vector<std::string> terms;  // of its condition; empty: of any query
  Targeting context;
};

// INVALID_ARGUMENT: a filter over the context that cannot be read.
absl::StatusOr<std::shared_ptr<const CompiledRule>> CompileRule(const storage::CurationRecord& record,
                                                                const Analyzer& analyzer);

// What a request asks of rules.
struct RuleQuestion {
  absl::Span<const std::string> terms;  // QueryTerms
  const google::protobuf::Struct* context = nullptr;
  absl::Time now;
};

// Immutable, cheap to copy; thread-safe.
class RuleSet {
 public:
  using Rules = std::vector<std::shared_ptr<const CompiledRule>>;

  // Without the rules `removed` (by id and words), and with `added`.
  RuleSet With(const Rules& removed, const Rules& added) const;
  // Those whose conditions hold: the greater priority first, then the lesser id.
  Rules Match(const RuleQuestion& question) const;
  // How many have the same words as this one.
  size_t CountOfSameWords(const CompiledRule& rule) const;

 private:
  SequenceMap<CompiledRule> by_words_;
  std::shared_ptr<const Rules> any_;  // null: none; by id
};

}  // namespace waymark
