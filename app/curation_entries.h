// Synonyms and rules as people write them: JSON as the API has it, or for synonyms the short form
// «sneakers, trainers, running shoes» (two-way), «phone => iphone, smartphone» (one-way).
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "waymark/v1/curation.pb.h"

namespace waymark {

// INVALID_ARGUMENT says what is wrong with the text. An id may be missing.
absl::StatusOr<v1::Synonym> ReadSynonym(std::string_view text);
absl::StatusOr<v1::Rule> ReadRule(std::string_view text);

// One line of an export: JSON without what the server fills in.
absl::StatusOr<std::string> EntryLine(v1::Synonym synonym);
absl::StatusOr<std::string> EntryLine(v1::Rule rule);

}  // namespace waymark
