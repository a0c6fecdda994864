// FeatureTable::Compute: apart from the table's definition, which trainers carry without what makes its
// values.
#include <cmath>

#include "rank/feature_table.h"
#include "rank/list_column.h"
#include "rank/ranker_input.h"
#include "rank/request_feature_names.h"

namespace waymark {
namespace {

using Kind = Feature::Kind;

constexpr float kLogFloor = 1e-4f;

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
