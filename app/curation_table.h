// Synonyms and rules as tables for people.
#pragma once
#include <string>

#include "waymark/v1/curation.pb.h"

namespace waymark {

// «a, b» or «a => b».
std::string SynonymText(const v1::Synonym& synonym);
// «EXACT "star wars", platform = "web"».
std::string ConditionText(const v1::Rule& rule);
// «pins m1 at 1; hides 2 items».
std::string ConsequenceText(const v1::Rule& rule);

std::string SynonymTableText(const v1::ListSynonymsResponse& page);
std::string RuleTableText(const v1::ListRulesResponse& page);

}  // namespace waymark
