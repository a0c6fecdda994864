#include "recommend/ease.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "recommend/checked_file.h"
#include "recommend/gram_inverse.h"

namespace waymark {
namespace {

constexpr char kEaseMagic[] = "WMEASE01";
constexpr uint32_t kEaseVersion = 1;

}  // namespace

absl::StatusOr<std::shared_ptr<const Ease>> Ease::Build(const Interactions& interactions,
                                                        const EaseOptions& options) {
  if (!(options.lambda > 0)) return absl::InvalidArgumentError("EASE's lambda must be above 0");
  std::shared_ptr<Ease> ease(new Ease);
  ease->options_ = options;
  ease->events_ = interactions.items.size();
  ease->items_ = interactions.items;
  std::sort(ease->items_.begin(), ease->items_.end());
  ease->items_.erase(std::unique(ease->items_.begin(), ease->items_.end()), ease->items_.end());
  const size_t n = ease->items_.size();
  if (n > options.max_items)
    return absl::ResourceExhaustedError(absl::StrCat("EASE over ", n, " items takes ", n * n * sizeof(float),
                                                     " bytes; it is for at most ", options.max_items,
                                                     " items"));
  SparseRows rows;
  for (size_t u = 0; u < interactions.user_count(); ++u) {
    const size_t begin = rows.columns.size();
    for (ItemOrdinal item : interactions.ItemsOf(u))
      rows.columns.push_back(static_cast<uint32_t>(ease->ColumnOf(item)));
    const auto from = rows.columns.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(from, rows.columns.end());
    rows.columns.erase(std::unique(from, rows.columns.end()), rows.columns.end());
    if (rows.columns.size() > begin) rows.starts.push_back(rows.columns.size());
  }
  auto inverse = InverseOfGram(rows, n, options.lambda);
  if (!inverse.ok()) return inverse.status();
  ease->weights_ = *std::move(inverse);
  // B = I - P diag(P)^-1, in place; the diagonal becomes 0.
  std::vector<float>& b = ease->weights_;
  std::vector<float> scale(n);
  for (size_t j = 0; j < n; ++j) scale[j] = -1 / b[j * n + j];
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) b[i * n + j] *= scale[j];
    b[i * n + i] = 0;
  }
  return ease;
}

int64_t Ease::ColumnOf(ItemOrdinal item) const {
  auto at = std::lower_bound(items_.begin(), items_.end(), item);
  return at == items_.end() || *at != item ? -1 : at - items_.begin();
}

std::vector<Ease::Asked> Ease::Ask(absl::Span<const ItemOrdinal> history) const {
  std::vector<Asked> asked;
  const size_t count = std::min(history.size(), options_.history_items);
  double weight = 1;
  for (size_t age = 0; age < count; ++age, weight *= options_.history_decay) {
    const int64_t row = ColumnOf(history[history.size() - 1 - age]);
    if (row >= 0) asked.push_back({static_cast<size_t>(row), static_cast<float>(weight)});
  }
  return asked;
}

bool Ease::Scores(absl::Span<const ItemOrdinal> history, absl::Span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  const size_t n = items_.size();
  const std::vector<Asked> asked = Ask(history);
  for (const Asked& a : asked) {
    const float* row = &weights_[a.row * n];
    for (size_t j = 0; j < n; ++j) out[j] += a.weight * row[j];
  }
  return !asked.empty();
}

bool Ease::ScoresOf(absl::Span<const ItemOrdinal> history, absl::Span<const ItemOrdinal> wanted,
                    absl::Span<float> out) const {
  const std::vector<Asked> asked = Ask(history);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t column = asked.empty() ? -1 : ColumnOf(wanted[i]);
    out[i] = column < 0 ? std::numeric_limits<float>::quiet_NaN() : 0;
    if (column < 0) continue;
    for (const Asked& a : asked)
      out[i] += a.weight * weights_[a.row * items_.size() + static_cast<size_t>(column)];
  }
  return !asked.empty();
}

absl::Status Ease::Save(const std::filesystem::path& file, LogOffset position) const {
  auto writer = CheckedWriter::Create(file, kEaseMagic, kEaseVersion);
  if (!writer.ok()) return writer.status();
  (*writer)->Put<uint64_t>(position);
  (*writer)->Put<double>(options_.lambda);
  (*writer)->Put<uint64_t>(events_);
  (*writer)->PutArray<ItemOrdinal>(items_);
  (*writer)->PutArray<float>(weights_);
  return (*writer)->Commit();
}

absl::StatusOr<std::shared_ptr<const Ease>> Ease::Open(const std::filesystem::path& file,
                                                       const EaseOptions& options, LogOffset* position) {
  auto reader = CheckedReader::Open(file, kEaseMagic, kEaseVersion);
  if (!reader.ok()) return reader.status();
  std::shared_ptr<Ease> ease(new Ease);
  ease->options_ = options;
  double lambda = 0;
  if (absl::Status s = (*reader)->Get(position); !s.ok()) return s;
  if (absl::Status s = (*reader)->Get(&lambda); !s.ok()) return s;
  if (absl::Status s = (*reader)->Get(&ease->events_); !s.ok()) return s;
  if (lambda != options.lambda)
    return absl::FailedPreconditionError(
        absl::StrCat(file.string(), " was made with lambda ", lambda, ", not ", options.lambda));
  if (absl::Status s = (*reader)->GetArray(&ease->items_); !s.ok()) return s;
  const size_t n = ease->items_.size();
  if (n > options.max_items)
    return absl::ResourceExhaustedError(
        absl::StrCat(file.string(), " holds ", n, " items; EASE is for at most ", options.max_items));
  if (absl::Status s = (*reader)->GetArray(&ease->weights_); !s.ok()) return s;
  if (ease->weights_.size() != n * n || !std::is_sorted(ease->items_.begin(), ease->items_.end()))
    return (*reader)->Damaged("holds weights of another size than its items");
  return ease;
}

}  // namespace waymark
