#include "recommend/vector_snapshot.h"

#include <faiss/utils/distances.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/container/flat_hash_map.h"

namespace waymark {
namespace {

// What one step of a graph search costs, in inner products of a scan: about this many neighbours are looked
// at for each row that enters the beam.
constexpr double kNeighboursPerStep = 20;

// The graph must pass over ef / share rows to find ef that the filter keeps; a scan looks at share * rows.
bool ScanIsCheaper(double share, double rows, double ef) {
  return share * rows <= kNeighboursPerStep * ef / share;
}

}  // namespace

void TailBlock::Write(size_t row, ItemOrdinal item, const float* vector) {
  items_[row] = item;
  std::memcpy(&vectors_[row * width_], vector, width_ * sizeof(float));
}

size_t VectorSnapshot::TailRows() const {
  size_t rows = 0;
  for (const BlockView& view : tail) rows += view.rows;
  return rows;
}

size_t VectorSnapshot::bytes(int width) const {
  size_t bytes =
      tail.size() * TailBlock::kRows * (sizeof(ItemOrdinal) + sizeof(float) * static_cast<size_t>(width));
  for (const VectorSegmentView& view : segments) bytes += view.segment->bytes() + view.segment->rows() / 8;
  return bytes;
}

absl::StatusOr<std::vector<ScoredItem>> VectorSnapshot::Search(const VectorIndexOptions& options,
                                                               const float* query, size_t limit,
                                                               const ItemSet* allowed,
                                                               absl::Span<const ItemOrdinal> excluded,
                                                               Deadline deadline) const {
  TopItems top(limit);
  const size_t width = static_cast<size_t>(options.width);
  // The tail first: its rows are the newest, and there are few.
  for (auto view = tail.rbegin(); view != tail.rend() && !deadline.Expired(); ++view) {
    const RowFilter filter{view->dead.get(), allowed, excluded};
    std::array<float, TailBlock::kRows> products;
    faiss::fvec_inner_products_ny(products.data(), query, view->block->vector(0), width, view->rows);
    for (size_t row = 0; row < view->rows; ++row) {
      const ItemOrdinal item = view->block->item(row);
      if (products[row] >= top.threshold() && filter.Keeps(row, item)) top.Offer(item, products[row]);
    }
  }
  const double kept = allowed == nullptr ? static_cast<double>(live) : static_cast<double>(allowed->Size());
  const double share = std::clamp(kept / std::max<double>(1, static_cast<double>(live)), 1e-9, 1.0);
  // Items that are left out are often the nearest: the beam makes room for them.
  const size_t beam =
      std::max(static_cast<size_t>(options.ef_search), limit) + std::min<size_t>(excluded.size(), 512);
  std::vector<ItemOrdinal> items;  // of `allowed`, once they are needed
  bool listed = false;
  for (const VectorSegmentView& view : segments) {
    if (deadline.Expired()) break;
    const RowFilter filter{view.dead.get(), allowed, excluded};
    const double rows = static_cast<double>(view.segment->rows());
    const bool few = allowed != nullptr && (share < options.exact_filter_share || kept * 4 < rows ||
                                            ScanIsCheaper(share, rows, static_cast<double>(beam)));
    if (few && (view.segment->has_graph() || kept * 4 < rows)) {
      if (!listed) items = allowed->ToVector();
      listed = true;
      if (!view.segment->ScanItems(query, items, filter, deadline, &top)) break;
    } else if (!view.segment->has_graph()) {
      if (!view.segment->Scan(query, filter, deadline, &top)) break;
    } else {
      const size_t ef = static_cast<size_t>(static_cast<double>(beam) / share);
      if (absl::Status s = view.segment->SearchGraph(query, limit, ef, filter, &top); !s.ok()) return s;
    }
  }
  return top.Take();
}

size_t VectorSnapshot::ReadVectors(int width, absl::Span<const ItemOrdinal> items,
                                   absl::Span<float> out) const {
  const size_t w = static_cast<size_t>(width);
  std::fill(out.begin(), out.end(), 0.0f);
  size_t found = 0;
  std::vector<bool> have(items.size(), false);
  auto take = [&](size_t i, const float* vector) {
    std::memcpy(&out[i * w], vector, w * sizeof(float));
    have[i] = true;
    ++found;
  };
  if (TailRows() > 0) {
    absl::flat_hash_map<ItemOrdinal, std::vector<size_t>> places;
    for (size_t i = 0; i < items.size(); ++i) places[items[i]].push_back(i);
    for (const BlockView& view : tail) {
      for (size_t row = 0; row < view.rows; ++row) {
        if (view.dead != nullptr && view.dead->Get(row)) continue;
        auto at = places.find(view.block->item(row));
        if (at == places.end()) continue;
        for (size_t i : at->second) take(i, view.block->vector(row));
      }
    }
  }
  for (const VectorSegmentView& view : segments) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (have[i]) continue;
      const auto row = view.segment->RowOf(items[i]);
      if (row && (view.dead == nullptr || !view.dead->Get(*row))) take(i, view.segment->vector(*row));
    }
  }
  return found;
}

}  // namespace waymark
