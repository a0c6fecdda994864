#include "recommend/vector_segment.h"

#include <faiss/impl/AuxIndexStructures.h>
#include <faiss/impl/DistanceComputer.h>
#include <faiss/impl/FaissException.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/utils/Heap.h>
#include <faiss/utils/distances.h>
#include <omp.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "recommend/vector_segment_impl.h"

namespace waymark {
namespace {

// Rows between two looks at the deadline: 4,096 inner products of width 64 take about 20 us.
constexpr size_t kBlockRows = 4096;
// Rows added to a graph between two looks at whether to stop: about a second.
constexpr size_t kBuildRows = 8192;

// FAISS's own distance for inner products: smaller is nearer.
class NegatedInnerProduct : public faiss::DistanceComputer {
 public:
  NegatedInnerProduct(const float* query, const float* base, size_t width)
      : query_(query), base_(base), width_(width) {}
  void set_query(const float* x) override { query_ = x; }
  float operator()(idx_t i) override {
    return -faiss::fvec_inner_product(query_, base_ + static_cast<size_t>(i) * width_, width_);
  }
  float symmetric_dis(idx_t i, idx_t j) override {
    return -faiss::fvec_inner_product(base_ + static_cast<size_t>(i) * width_,
                                      base_ + static_cast<size_t>(j) * width_, width_);
  }

 private:
  const float* query_;
  const float* base_;
  size_t width_;
};

class FilterSelector : public faiss::IDSelector {
 public:
  FilterSelector(const RowFilter& filter, absl::Span<const ItemOrdinal> ordinals)
      : filter_(filter), ordinals_(ordinals) {}
  bool is_member(idx_t id) const override {
    const size_t row = static_cast<size_t>(id);
    return filter_.Keeps(row, ordinals_[row]);
  }

 private:
  const RowFilter& filter_;
  absl::Span<const ItemOrdinal> ordinals_;
};

// FAISS's search would allocate a table of the whole index for each call; a thread keeps one.
faiss::VisitedTable& ThreadVisitedTable(size_t rows) {
  thread_local std::unique_ptr<faiss::VisitedTable> table;
  if (table == nullptr || table->visited.size() < rows)
    table = std::make_unique<faiss::VisitedTable>(static_cast<int>(rows));
  return *table;
}

// FAISS builds with OpenMP: one thread for the calls in a scope, then as it was.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }

 private:
  int before_;
};

}  // namespace

bool RowFilter::Keeps(size_t row, ItemOrdinal item) const {
  if (dead != nullptr && dead->Get(row)) return false;
  if (!excluded.empty() && std::binary_search(excluded.begin(), excluded.end(), item)) return false;
  return allowed == nullptr || allowed->Contains(item);
}

VectorSegment::VectorSegment(int width, std::vector<ItemOrdinal> ordinals)
    : width_(width), ordinals_(std::move(ordinals)), faiss_(std::make_unique<Faiss>()) {}
VectorSegment::~VectorSegment() = default;

absl::StatusOr<std::shared_ptr<const VectorSegment>> VectorSegment::Build(
    const VectorSegmentOptions& options, std::vector<ItemOrdinal> ordinals, absl::Span<const float> vectors,
    const std::function<bool()>& cancelled) {
  std::shared_ptr<VectorSegment> segment(new VectorSegment(options.width, std::move(ordinals)));
  const OneThread one_thread;
  try {
    const auto rows = static_cast<faiss::Index::idx_t>(segment->rows());
    segment->faiss_->flat = std::make_unique<faiss::IndexFlat>(options.width, faiss::METRIC_INNER_PRODUCT);
    if (segment->rows() <= options.flat_limit) {
      segment->faiss_->flat->add(rows, vectors.data());
    } else {
      auto graph = std::make_unique<faiss::IndexHNSW>(segment->faiss_->flat.get(), options.hnsw_m);
      graph->hnsw.efConstruction = options.ef_construction;
      for (size_t begin = 0; begin < segment->rows(); begin += kBuildRows) {
        if (cancelled && cancelled()) return absl::CancelledError("the building of a segment was stopped");
        const size_t count = std::min(kBuildRows, segment->rows() - begin);
        graph->add(static_cast<faiss::Index::idx_t>(count),
                   vectors.data() + begin * static_cast<size_t>(options.width));
      }
      segment->faiss_->graph = std::move(graph);
    }
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("FAISS could not build a segment: ", e.what()));
  }
  return segment;
}

const float* VectorSegment::vector(size_t row) const {
  return faiss_->flat->get_xb() + row * static_cast<size_t>(width_);
}

std::optional<size_t> VectorSegment::RowOf(ItemOrdinal item) const {
  auto at = std::lower_bound(ordinals_.begin(), ordinals_.end(), item);
  if (at == ordinals_.end() || *at != item) return std::nullopt;
  return static_cast<size_t>(at - ordinals_.begin());
}

bool VectorSegment::has_graph() const { return faiss_->graph != nullptr; }

size_t VectorSegment::bytes() const {
  size_t bytes = rows() * (sizeof(float) * static_cast<size_t>(width_) + sizeof(ItemOrdinal));
  if (has_graph()) {
    const faiss::HNSW& hnsw = faiss_->graph->hnsw;
    bytes += hnsw.neighbors.size() * sizeof(hnsw.neighbors[0]) + hnsw.offsets.size() * sizeof(size_t) +
             hnsw.levels.size() * sizeof(int);
  }
  return bytes;
}

bool VectorSegment::Scan(const float* query, const RowFilter& filter, Deadline deadline,
                         TopItems* top) const {
  std::array<float, kBlockRows> products;
  for (size_t begin = 0; begin < rows(); begin += kBlockRows) {
    if (deadline.Expired()) return false;
    const size_t count = std::min(kBlockRows, rows() - begin);
    faiss::fvec_inner_products_ny(products.data(), query, vector(begin), static_cast<size_t>(width_), count);
    for (size_t i = 0; i < count; ++i) {
      if (products[i] >= top->threshold() && filter.Keeps(begin + i, ordinals_[begin + i]))
        top->Offer(ordinals_[begin + i], products[i]);
    }
  }
  return true;
}

bool VectorSegment::ScanItems(const float* query, absl::Span<const ItemOrdinal> items,
                              const RowFilter& filter, Deadline deadline, TopItems* top) const {
  auto at = ordinals_.begin();
  for (size_t i = 0; i < items.size(); ++i) {
    if (i % kBlockRows == 0 && deadline.Expired()) return false;
    at = std::lower_bound(at, ordinals_.end(), items[i]);
    if (at == ordinals_.end()) break;
    if (*at != items[i]) continue;
    const size_t row = static_cast<size_t>(at - ordinals_.begin());
    if (!filter.Keeps(row, items[i])) continue;
    top->Offer(items[i], faiss::fvec_inner_product(query, vector(row), static_cast<size_t>(width_)));
  }
  return true;
}

absl::Status VectorSegment::SearchGraph(const float* query, size_t limit, size_t ef, const RowFilter& filter,
                                        TopItems* top) const {
  // FAISS 1.7.3 takes the beam's width from k and from the index, not from the parameters: ask for the whole
  // beam, and let `top` keep the best.
  const size_t k = std::min(std::max(limit, ef), rows());
  std::vector<faiss::Index::idx_t> labels(k);
  std::vector<float> distances(k);
  FilterSelector selector(filter, ordinals_);
  faiss::SearchParametersHNSW parameters;
  parameters.efSearch = static_cast<int>(k);
  parameters.sel = &selector;
  NegatedInnerProduct distance(query, faiss_->flat->get_xb(), static_cast<size_t>(width_));
  faiss::maxheap_heapify(k, distances.data(), labels.data());
  try {
    faiss_->graph->hnsw.search(distance, static_cast<int>(k), labels.data(), distances.data(),
                               ThreadVisitedTable(rows()), &parameters);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("FAISS could not search a segment: ", e.what()));
  }
  for (size_t i = 0; i < k; ++i) {
    if (labels[i] >= 0) top->Offer(ordinals_[static_cast<size_t>(labels[i])], -distances[i]);
  }
  return absl::OkStatus();
}

}  // namespace waymark
