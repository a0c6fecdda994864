#include "training/federated/model/bucket_table.h"

#include <algorithm>

#include "recommend/network/counter_random.h"

namespace waymark {
namespace {

constexpr int kMostIterations = 40;
constexpr double kEnough = 1e-8;  // of the squared residual of the normal equations, against the first

// FNV-1a, then mixed: the same everywhere, and part of the format.
uint64_t HashOfId(const std::string& id) {
  uint64_t hash = 1469598103934665603ull;
  for (unsigned char c : id) hash = (hash ^ c) * 1099511628211ull;
  return MixBits(hash);
}

// out = transposed(Expand) in: adds each item's row to all of its buckets.
void AddToRows(int hashes, absl::Span<const uint32_t> rows, absl::Span<const float> in, size_t width,
               absl::Span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  for (size_t r = 0; r < rows.size(); ++r) {
    const float* from = in.data() + r / hashes * width;
    float* to = out.data() + rows[r] * width;
    for (size_t c = 0; c < width; ++c) to[c] += from[c];
  }
}

double SquaredNorm(absl::Span<const float> values) {
  double sum = 0;
  for (float v : values) sum += static_cast<double>(v) * v;
  return sum;
}

void AddScaled(double scale, absl::Span<const float> from, absl::Span<float> to) {
  const float factor = static_cast<float>(scale);
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

}  // namespace

std::vector<uint32_t> BucketTable::RowsOf(absl::Span<const std::string> ids) const {
  std::vector<uint32_t> rows;
  rows.reserve(ids.size() * hashes_);
  for (const std::string& id : ids) {
    const uint64_t key = RandomKey(seed_, {HashOfId(id)});
    const size_t first = rows.size();
    for (uint64_t draw = 0; rows.size() < first + hashes_; ++draw) {
      const uint32_t row = static_cast<uint32_t>(RandomBelow(key, draw, buckets_));
      if (std::find(rows.begin() + first, rows.end(), row) == rows.end()) rows.push_back(row);
    }
  }
  return rows;
}

void Expand(const BucketTable& shape, absl::Span<const uint32_t> rows, absl::Span<const float> table,
            size_t width, absl::Span<float> items) {
  std::fill(items.begin(), items.end(), 0.0f);
  for (size_t r = 0; r < rows.size(); ++r) {
    const float* from = table.data() + rows[r] * width;
    float* to = items.data() + r / shape.hashes() * width;
    for (size_t c = 0; c < width; ++c) to[c] += from[c];
  }
}

void Fold(const BucketTable& shape, absl::Span<const uint32_t> all_rows, absl::Span<const float> moved,
          size_t width, absl::Span<float> update) {
  // Rows that some item here uses, numbered without gaps: the others stay 0.
  std::vector<uint32_t> used(all_rows.begin(), all_rows.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<uint32_t> rows;
  for (uint32_t row : all_rows) {
    rows.push_back(static_cast<uint32_t>(std::lower_bound(used.begin(), used.end(), row) - used.begin()));
  }
  std::vector<float> residual(moved.begin(), moved.end()), expanded(moved.size());
  std::vector<float> solution(used.size() * width, 0.0f), gradient(solution.size());
  AddToRows(shape.hashes(), rows, residual, width, absl::MakeSpan(gradient));
  std::vector<float> direction = gradient;
  double norm = SquaredNorm(gradient);
  const double enough = kEnough * norm;
  for (int step = 0; step < kMostIterations && norm > enough; ++step) {
    Expand(shape, rows, direction, width, absl::MakeSpan(expanded));
    const double curvature = SquaredNorm(expanded);
    if (curvature == 0) break;
    AddScaled(norm / curvature, direction, absl::MakeSpan(solution));
    AddScaled(-norm / curvature, expanded, absl::MakeSpan(residual));
    AddToRows(shape.hashes(), rows, residual, width, absl::MakeSpan(gradient));
    const double next = SquaredNorm(gradient);
    const float keep = static_cast<float>(next / norm);
    for (size_t i = 0; i < direction.size(); ++i) direction[i] = gradient[i] + keep * direction[i];
    norm = next;
  }
  std::fill(update.begin(), update.end(), 0.0f);
  for (size_t u = 0; u < used.size(); ++u) {
    std::copy_n(solution.data() + u * width, width, update.data() + used[u] * width);
  }
}

}  // namespace waymark
