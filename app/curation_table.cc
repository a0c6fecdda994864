#include "app/curation_table.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "app/text_table.h"

namespace waymark {
namespace {

std::string More(const std::string& token) {
  return token.empty() ? "" : absl::StrCat("more: --page-token ", token, "\n");
}

}  // namespace

std::string SynonymText(const v1::Synonym& synonym) {
  if (!synonym.words().empty()) return absl::StrJoin(synonym.words(), ", ");
  return absl::StrCat(absl::StrJoin(synonym.from(), ", "), " => ", absl::StrJoin(synonym.to(), ", "));
}

std::string ConditionText(const v1::Rule& rule) {
  const v1::Rule::Condition& condition = rule.condition();
  std::string text = v1::Rule::Match_Name(condition.match());
  if (!condition.query().empty()) absl::StrAppend(&text, " \"", condition.query(), "\"");
  if (!condition.filter().empty()) absl::StrAppend(&text, ", ", condition.filter());
  if (condition.has_valid_from()) absl::StrAppend(&text, ", from ", TimeText(condition.valid_from()));
  if (condition.has_valid_until()) absl::StrAppend(&text, ", until ", TimeText(condition.valid_until()));
  return text;
}

std::string ConsequenceText(const v1::Rule& rule) {
  std::vector<std::string> parts;
  for (const auto& pin : rule.pins()) {
    parts.push_back(absl::StrCat("pins ", pin.item_id(), " at ", pin.position()));
  }
  if (!rule.hidden_items().empty()) {
    parts.push_back(absl::StrCat("hides ", absl::StrJoin(rule.hidden_items(), ", ")));
  }
  if (!rule.hidden_filter().empty()) parts.push_back(absl::StrCat("hides ", rule.hidden_filter()));
  for (const auto& boost : rule.boosts()) {
    parts.push_back(absl::StrFormat(
        "boosts %s by %g", boost.filter().empty() ? absl::StrJoin(boost.items(), ", ") : boost.filter(),
        boost.factor()));
  }
  if (!rule.redirect_uri().empty()) parts.push_back(absl::StrCat("redirects to ", rule.redirect_uri()));
  if (!rule.replacement_query().empty()) {
    parts.push_back(absl::StrCat("searches for ", rule.replacement_query()));
  }
  if (!rule.added_filter().empty()) parts.push_back(absl::StrCat("adds ", rule.added_filter()));
  return absl::StrJoin(parts, "; ");
}

std::string SynonymTableText(const v1::ListSynonymsResponse& page) {
  if (page.synonyms().empty()) return "no synonyms\n";
  TextTable table(
      {{"synonym", TextTable::kWhole}, {"language", TextTable::kWhole}, {"words", TextTable::kText}});
  for (const v1::Synonym& synonym : page.synonyms()) {
    table.Add({synonym.id(), synonym.language(), SynonymText(synonym)});
  }
  return table.Render(TerminalWidth()) + More(page.next_page_token());
}

std::string RuleTableText(const v1::ListRulesResponse& page) {
  if (page.rules().empty()) return "no rules\n";
  TextTable table({{"rule", TextTable::kWhole},
                   {"priority", TextTable::kRight},
                   {"when", TextTable::kText},
                   {"does", TextTable::kText}});
  for (const v1::Rule& rule : page.rules()) {
    table.Add({rule.id(), absl::StrCat(rule.priority()), ConditionText(rule), ConsequenceText(rule)});
  }
  return table.Render(TerminalWidth()) + More(page.next_page_token());
}

}  // namespace waymark
