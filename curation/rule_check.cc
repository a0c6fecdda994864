// CheckRule.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catalog/targeting.h"
#include "curation/curation_check.h"
#include "curation/curation_limits.h"
#include "index/query_parser.h"
#include "store/text_check.h"

namespace waymark {
namespace {

using storage::RuleRecord;

absl::Status WrongRule(const std::string& field, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("rule.", field, ": ", what));
}

absl::Status TooMany(const std::string& field, int given, size_t most) {
  return WrongRule(field, absl::StrCat(given, " are given; it takes at most ", most));
}

absl::Status CheckCondition(const RuleRecord& rule, const Analyzer& analyzer) {
  if (rule.match() == RuleRecord::MATCH_UNSPECIFIED || !RuleRecord::Match_IsValid(rule.match())) {
    return WrongRule("condition.match", "is not given; it takes EXACT, CONTAINS, BEGINS or ANY");
  }
  if (auto status = CheckText("rule.condition.query", rule.query(), kMaxQueryBytes); !status.ok())
    return status;
  if (rule.match() == RuleRecord::ANY) {
    if (!rule.query().empty()) return WrongRule("condition.query", "stands beside ANY, which takes none");
  } else {
    TermList terms;
    analyzer.Analyze(rule.query(), 0, &terms);
    if (terms.empty()) {
      return WrongRule(
          "condition.query",
          absl::StrCat("is '", Shortened(rule.query()),
                       "', in which this collection's analysis finds no word (stop words are none); it "
                       "takes 1 to ",
                       kMostConditionWords));
    }
    if (terms.size() > kMostConditionWords) {
      return WrongRule("condition.query",
                       absl::StrCat("has ", terms.size(), " words; it takes at most ", kMostConditionWords));
    }
  }
  auto context = Targeting::Parse(rule.context_filter(), {}, "rule.condition.filter");
  if (!context.ok()) return context.status();
  if (rule.valid_until_us() != 0 && rule.valid_until_us() <= rule.valid_from_us()) {
    return WrongRule("condition.valid_until", "is not after valid_from: the rule would never hold");
  }
  return absl::OkStatus();
}

absl::Status CheckItems(const std::string& field,
                        const google::protobuf::RepeatedPtrField<std::string>& items, size_t most) {
  if (items.size() > static_cast<int>(most)) return TooMany(field, items.size(), most);
  for (int i = 0; i < items.size(); ++i) {
    if (auto status = CheckId(absl::StrCat("rule.", field, "[", i, "]"), items[i]); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status CheckFilter(const std::string& field, const std::string& filter, const Catalog& catalog) {
  if (filter.empty()) return absl::OkStatus();
  auto compiled = catalog.CompileFilter(filter);
  return compiled.ok() ? absl::OkStatus() : WrongRule(field, std::string(compiled.status().message()));
}

absl::Status CheckPins(const RuleRecord& rule) {
  if (rule.pins_size() > static_cast<int>(kMostPins)) return TooMany("pins", rule.pins_size(), kMostPins);
  std::set<std::string> items(rule.hidden_items().begin(), rule.hidden_items().end());
  std::set<int> positions;
  for (int i = 0; i < rule.pins_size(); ++i) {
    const RuleRecord::Pin& pin = rule.pins(i);
    const std::string field = absl::StrCat("pins[", i, "]");
    if (auto status = CheckId(absl::StrCat("rule.", field, ".item_id"), pin.item_id()); !status.ok())
      return status;
    if (pin.position() < 1 || pin.position() > kLastPinPosition) {
      return WrongRule(field + ".position",
                       absl::StrCat("is ", pin.position(), "; it takes 1 to ", kLastPinPosition));
    }
    if (!items.insert(pin.item_id()).second) {
      return WrongRule(field + ".item_id", absl::StrCat("is '", Shortened(pin.item_id()),
                                                        "', which this rule pins twice, or hides as well"));
    }
    if (!positions.insert(pin.position()).second) {
      return WrongRule(field + ".position",
                       absl::StrCat("is ", pin.position(), ", which an earlier pin of this rule has"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBoosts(const RuleRecord& rule, const Catalog& catalog) {
  if (rule.boosts_size() > static_cast<int>(kMostBoosts)) {
    return TooMany("boosts", rule.boosts_size(), kMostBoosts);
  }
  for (int i = 0; i < rule.boosts_size(); ++i) {
    const RuleRecord::Boost& boost = rule.boosts(i);
    const std::string field = absl::StrCat("boosts[", i, "]");
    if (!(boost.factor() > 0 && boost.factor() <= kGreatestFactor)) {
      return WrongRule(field + ".factor",
                       absl::StrCat("is ", boost.factor(), "; it takes over 0 up to ", kGreatestFactor));
    }
    if (boost.filter().empty() == boost.items().empty()) {
      return WrongRule(field, boost.filter().empty() ? "names nothing; it takes a filter or items"
                                                     : "has a filter and items; it takes one of them");
    }
    if (auto status = CheckFilter(field + ".filter", boost.filter(), catalog); !status.ok()) return status;
    auto status = CheckItems(field + ".items", boost.items(), kMostBoostedItems);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// A path, or an address with a scheme; none that a browser would run.
absl::Status CheckUri(const std::string& uri) {
  if (uri.empty()) return absl::OkStatus();
  if (auto status = CheckText("rule.redirect_uri", uri, kMostUriBytes); !status.ok()) return status;
  const bool plain =
      std::none_of(uri.begin(), uri.end(), [](unsigned char c) { return c <= ' ' || c == 0x7F; });
  const size_t colon =
      uri.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
  const bool scheme = colon != std::string::npos && colon > 0 && uri[colon] == ':';
  bool runs = false;
  for (const char* name : {"javascript:", "data:", "vbscript:"}) {
    runs = runs || absl::StartsWithIgnoreCase(uri, name);
  }
  if (plain && !runs && (uri[0] == '/' || scheme)) return absl::OkStatus();
  return WrongRule("redirect_uri", absl::StrCat("is '", Shortened(uri),
                                                "'; it takes a path that begins with «/», or an address as "
                                                "«https://example.com/sale»"));
}

}  // namespace

absl::Status CheckRule(const RuleRecord& rule, const Analyzer& analyzer, const Catalog& catalog) {
  if (auto status = CheckText("rule.description", rule.description(), kMostDescriptionBytes); !status.ok())
    return status;
  const bool empty = rule.pins().empty() && rule.hidden_items().empty() && rule.hidden_filter().empty() &&
                     rule.boosts().empty() && rule.redirect_uri().empty() &&
                     rule.replacement_query().empty() && rule.added_filter().empty();
  if (empty) {
    return absl::InvalidArgumentError(
        "rule: does nothing; it takes pins, hidden_items, hidden_filter, boosts, redirect_uri, "
        "replacement_query or added_filter");
  }
  for (const absl::Status& status :
       {CheckCondition(rule, analyzer), CheckPins(rule),
        CheckItems("hidden_items", rule.hidden_items(), kMostHiddenItems),
        CheckFilter("hidden_filter", rule.hidden_filter(), catalog), CheckBoosts(rule, catalog),
        CheckUri(rule.redirect_uri()),
        CheckText("rule.replacement_query", rule.replacement_query(), kMaxQueryBytes),
        CheckFilter("added_filter", rule.added_filter(), catalog)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace waymark
