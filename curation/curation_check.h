// Whether a synonym, a rule or a variant of a slot can be taken. Errors are INVALID_ARGUMENT and name the
// field, what it holds and what it takes: «synonym.words[2]: ...», «rule.boosts[0].factor: ...».
#pragma once
#include "absl/status/status.h"
#include "catalog/catalog.h"
#include "index/analyzer.h"
#include "waymark/storage/curation.pb.h"

namespace waymark {

absl::Status CheckSynonym(const storage::SynonymRecord& synonym, const Analyzer& analyzer);
// Filters are read against the catalogue's schema as it is now.
absl::Status CheckRule(const storage::RuleRecord& rule, const Analyzer& analyzer, const Catalog& catalog);

// `key`: «slot/variant».
absl::Status CheckSlotVariant(const std::string& key, const storage::SlotVariantRecord& variant);

}  // namespace waymark
