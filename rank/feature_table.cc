#include "rank/feature_table.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rank/request_feature_names.h"
#include "store/package/model_package.h"

namespace waymark {
namespace {

using Kind = Feature::Kind;

// The text that is hashed: a changed formula needs a changed text.
const char* RuleOf(Kind kind) {
  switch (kind) {
    case Kind::kSignal:
      return "x; missing 0";
    case Kind::kLogSignal:
      return "ln(1e-4 + max(x, 0)); missing ln(1e-4)";
    case Kind::kSignalPresent:
      return "1; missing 0";
    case Kind::kZScore:
      return "(x - mean) / population deviation; missing 0";
    case Kind::kLogRank:
      return "-ln(middle rank within the list); missing -ln(1 + present)";
    case Kind::kRequest:
      return "by name";
  }
  return "";
}

std::string NameOf(Kind kind, Signal signal) {
  const std::string base(signal == Signal::kCount ? std::string_view("fusion") : SignalName(signal));
  switch (kind) {
    case Kind::kLogSignal:
      return absl::StrCat(base, ".log");
    case Kind::kSignalPresent:
      return absl::StrCat(base, ".present");
    case Kind::kZScore:
      return absl::StrCat(base, ".z");
    case Kind::kLogRank:
      return absl::StrCat(base, ".rank");
    default:
      return base;
  }
}

// Columns of one signal stand together: it is then read once.
std::vector<Feature> KnownFeatures() {
  std::vector<Feature> all;
  auto add = [&all](Signal signal, std::initializer_list<Kind> kinds) {
    for (Kind kind : kinds) all.push_back({NameOf(kind, signal), kind, signal});
  };
  const auto raw = Kind::kSignal, log = Kind::kLogSignal, present = Kind::kSignalPresent, z = Kind::kZScore,
             rank = Kind::kLogRank;
  add(Signal::kKeywordScore, {raw, present, z, rank});
  add(Signal::kKeywordCoverage, {raw});
  add(Signal::kKeywordTitle, {raw});
  add(Signal::kRetrieverScore, {raw, present, z, rank});
  add(Signal::kCovisitationScore, {log, present, z, rank});
  add(Signal::kTransitionScore, {log, present, z, rank});
  add(Signal::kPopularityScore, {raw, z, rank});
  add(Signal::kSimilarScore, {raw, present, z, rank});
  add(Signal::kDecayedEase, {raw, present, z, rank});
  add(Signal::kTransitionSecondLast, {log, z});
  add(Signal::kCovisitationLast, {log, z});
  add(Signal::kCovisitationSecondLast, {log, z});
  add(Signal::kLogCount, {raw, z});
  add(Signal::kLogRecentCount, {raw, z});
  add(Signal::kCosineLast, {raw, z});
  add(Signal::kCosineMaxLast5, {raw, z});
  add(Signal::kCosineMaxLast20, {raw});
  add(Signal::kCategoryAffinity, {raw, z});
  add(Signal::kCategoryAffinityLast5, {raw});
  add(Signal::kTitleOverlap, {raw});
  add(Signal::kYear, {z});
  add(Signal::kYearDistance, {log, z});
  add(Signal::kItemAge, {raw, z});
  add(Signal::kCount, {z});
  for (const char* name : {kHistoryLengthName, kHasQueryName, kQueryWordsName}) {
    all.push_back({name, Kind::kRequest});
  }
  return all;
}

}  // namespace

FeatureTable::FeatureTable(std::vector<Feature> features) : features_(std::move(features)) {
  std::string text = "waymark features 1\n";
  for (const Feature& f : features_) absl::StrAppend(&text, f.name, "\t", RuleOf(f.kind), "\n");
  sha256_ = Sha256Hex(text);
}

const FeatureTable& FeatureTable::Current() {
  static const FeatureTable* const table = new FeatureTable(KnownFeatures());
  return *table;
}

absl::StatusOr<FeatureTable> FeatureTable::FromNames(const std::vector<std::string>& names) {
  std::vector<Feature> chosen;
  std::vector<std::string> unknown;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat("feature '", name, "' is listed twice"));
    }
    bool found = false;
    for (const Feature& f : Current().features()) {
      if (f.name != name) continue;
      chosen.push_back(f);
      found = true;
    }
    if (!found) unknown.push_back(name);
  }
  if (!unknown.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("this program does not know the features: ", absl::StrJoin(unknown, ", "),
                     "; train the ranker again with this version"));
  }
  if (chosen.empty()) return absl::InvalidArgumentError("the list of features is empty");
  return FeatureTable(std::move(chosen));
}

std::vector<std::string> FeatureTable::Names() const {
  std::vector<std::string> names;
  names.reserve(features_.size());
  for (const Feature& f : features_) names.push_back(f.name);
  return names;
}

}  // namespace waymark
