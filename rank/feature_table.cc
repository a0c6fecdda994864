#include "rank/feature_table.h"

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rank/list_column.h"
#include "rank/ranker_input.h"
#include "store/package/model_package.h"

namespace waymark {
namespace {

using Kind = Feature::Kind;

constexpr float kLogFloor = 1e-4f;
constexpr char kHistoryLengthName[] = "request.history_length";  // ln(1 + events)
constexpr char kHasQueryName[] = "request.has_query";
constexpr char kQueryWordsName[] = "request.query_words";  // ln(1 + words)

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

float RequestValue(const RequestContext& context, const std::string& name) {
  if (name == kHistoryLengthName) return std::log1p(static_cast<float>(context.history.size()));
  const size_t words = context.query.empty() ? 0 : QueryWordHashes(context.query, kRankerQueryWords).size();
  if (name == kHasQueryName) return words > 0 ? 1.f : 0.f;
  return std::log1p(static_cast<float>(words));
}

// out: the column's first value; the next row's is `stride` further.
void WriteColumn(Kind kind, ListColumn& column, float* out, size_t stride) {
  const size_t n = column.size();
  switch (kind) {
    case Kind::kSignal:
      for (size_t i = 0; i < n; ++i) out[i * stride] = column.value(i);
      break;
    case Kind::kLogSignal:
      for (size_t i = 0; i < n; ++i) out[i * stride] = std::log(kLogFloor + std::max(column.value(i), 0.f));
      break;
    case Kind::kSignalPresent:
      for (size_t i = 0; i < n; ++i) out[i * stride] = column.Has(i) ? 1.f : 0.f;
      break;
    case Kind::kZScore:
      for (size_t i = 0; i < n; ++i) out[i * stride] = column.Z(i);
      break;
    case Kind::kLogRank: {
      const std::vector<float>& ranks = column.Ranks();
      for (size_t i = 0; i < n; ++i) out[i * stride] = -std::log(ranks[i]);
      break;
    }
    case Kind::kRequest:
      break;
  }
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

void FeatureTable::Compute(const RequestContext& context, absl::Span<const Candidate> candidates,
                           absl::Span<float> out) const {
  const size_t columns = features_.size();
  ListColumn column;
  bool any_read = false;
  Signal read = Signal::kCount;
  for (size_t c = 0; c < columns; ++c) {
    const Feature& feature = features_[c];
    if (feature.kind == Kind::kRequest) {
      const float value = RequestValue(context, feature.name);
      for (size_t i = 0; i < candidates.size(); ++i) out[i * columns + c] = value;
      continue;
    }
    if (!any_read || read != feature.signal) {
      column.Read(candidates, feature.signal);
      read = feature.signal;
      any_read = true;
    }
    WriteColumn(feature.kind, column, out.data() + c, columns);
  }
}

}  // namespace waymark
