#include "training/distributed/rank_tables.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace waymark {
namespace {

constexpr int64_t kNumberFloats = sizeof(int64_t) / sizeof(float);
constexpr int64_t kGatheredFloats = int64_t{1} << 16;  // of each rank at once: 256 KiB

void AddRow(const float* from, int64_t columns, float* to) {
  for (int64_t c = 0; c < columns; ++c) to[c] += from[c];
}

// The place of a row in `rows`; a new one gets zeros in `sum`.
float* SumOf(int64_t row, int64_t columns, std::vector<int64_t>* place_of, std::vector<int64_t>* rows,
             std::vector<float>* sum) {
  int64_t& place = (*place_of)[row];
  if (place < 0) {
    place = static_cast<int64_t>(rows->size());
    rows->push_back(row);
    sum->resize(sum->size() + columns, 0.0f);
  }
  return sum->data() + place * columns;
}

}  // namespace

at::Tensor PackRows(absl::Span<const int64_t> rows, const float* gradient, int64_t columns) {
  at::Tensor packed = at::empty({static_cast<int64_t>(rows.size()), columns + kNumberFloats}, at::kFloat);
  float* out = packed.data_ptr<float>();
  for (size_t i = 0; i < rows.size(); ++i, out += columns + kNumberFloats, gradient += columns) {
    std::copy_n(gradient, columns, out);
    std::memcpy(out + columns, &rows[i], sizeof(int64_t));
  }
  return packed;
}

int64_t RowNumber(const float* packed, int64_t columns) {
  int64_t row;
  std::memcpy(&row, packed + columns, sizeof(row));
  return row;
}

CopiedTable::CopiedTable(RankGroup* group, at::Tensor weights, at::Tensor first, at::Tensor second)
    : WholeTable(weights, std::move(first), std::move(second)),
      group_(group),
      place_of_(weights.size(0), -1) {}

double CopiedTable::Collect(absl::Span<const int64_t> rows, int64_t shared, float* gradient) {
  const int64_t width = columns();
  for (int64_t row : rows_) place_of_[row] = -1;
  rows_.clear();
  sum_.clear();
  // The shared ones are the same on every rank, in the same order: they are added up as they lie.
  at::Tensor together = at::from_blob(gradient, {shared * width}, at::kFloat);
  std::unique_ptr<PendingExchange> pending = shared > 0 ? group_->BeginSum(together) : nullptr;
  const auto own = rows.subspan(shared);
  const std::vector<at::Tensor> parts =
      group_->GatherRows(PackRows(own, gradient + shared * width, width), counts_);
  if (pending != nullptr) pending->Wait();
  sum_.reserve((rows.size() + own.size()) * width);
  for (int64_t i = 0; i < shared; ++i) {
    AddRow(gradient + i * width, width, SumOf(rows[i], width, &place_of_, &rows_, &sum_));
  }
  for (const at::Tensor& part : parts) {
    const at::Tensor packed = part.contiguous();
    const float* row = packed.data_ptr<float>();
    for (int64_t i = 0; i < packed.size(0); ++i, row += width + kNumberFloats) {
      AddRow(row, width, SumOf(RowNumber(row, width), width, &place_of_, &rows_, &sum_));
    }
  }
  return SquaredNorm(sum_.data(), static_cast<int64_t>(sum_.size()));
}

void CopiedTable::Update(const AdamStep& step) { AdamRows(step, rows_, sum_.data(), adam()); }

void GatherShares(RankGroup* group, const at::Tensor& own, int64_t rows, TensorData* all) {
  const int64_t columns = own.size(1), size = group->size(),
                at_once = std::max<int64_t>(1, kGatheredFloats / columns);
  at::Tensor whole;
  if (all != nullptr) {
    all->shape = {rows, columns};
    all->bytes.resize(static_cast<size_t>(rows * columns) * sizeof(float));
    whole = at::from_blob(all->bytes.data(), {rows, columns}, at::kFloat);
  }
  const auto rows_of = [&](int64_t rank) { return RowShare{rank, size}.rows(rows); };
  for (int64_t first = 0; first < rows_of(0); first += at_once) {
    std::vector<int64_t> counts;
    for (int64_t r = 0; r < size; ++r) counts.push_back(std::clamp<int64_t>(rows_of(r) - first, 0, at_once));
    const int64_t own_first = std::min(first, own.size(0));
    const std::vector<at::Tensor> pieces =
        group->GatherRows(own.narrow(0, own_first, counts[group->rank()]), counts);
    for (int64_t r = 0; r < size && all != nullptr; ++r) {
      if (counts[r] == 0) continue;
      const int64_t from = first * size + r;
      whole.slice(0, from, from + (counts[r] - 1) * size + 1, size).copy_(pieces[r]);
    }
  }
}

std::vector<int64_t> SortByOwner(absl::Span<const int64_t> rows, int64_t size, std::vector<int64_t>* order) {
  std::vector<int64_t> counts(size, 0);
  for (int64_t row : rows) {
    if (row >= 0) ++counts[row % size];
  }
  std::vector<int64_t> next(size, 0);
  for (int64_t r = 1; r < size; ++r) next[r] = next[r - 1] + counts[r - 1];
  order->resize(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= 0) (*order)[next[rows[i] % size]++] = static_cast<int64_t>(i);
  }
  return counts;
}

std::vector<int64_t> CountsToReceive(RankGroup* group, const std::vector<int64_t>& send) {
  const int64_t size = group->size();
  const std::vector<int64_t> ones(size, 1);
  const at::Tensor counts =
      group->Swap(at::from_blob(const_cast<int64_t*>(send.data()), {size, 1}, at::kLong), ones, ones);
  return {counts.data_ptr<int64_t>(), counts.data_ptr<int64_t>() + size};
}

at::Tensor FetchRows(RankGroup* group, const at::Tensor& own, absl::Span<const int64_t> rows,
                     std::vector<int64_t>* places) {
  const int64_t columns = own.size(1), size = group->size();
  std::vector<int64_t> order;
  const std::vector<int64_t> ask = SortByOwner(rows, size, &order);
  const std::vector<int64_t> asked = CountsToReceive(group, ask);
  at::Tensor numbers = at::empty({static_cast<int64_t>(order.size()), 1}, at::kLong);
  places->assign(rows.size(), -1);
  for (size_t k = 0; k < order.size(); ++k) {
    numbers.data_ptr<int64_t>()[k] = rows[order[k]];
    (*places)[order[k]] = static_cast<int64_t>(k);
  }
  const at::Tensor wanted = group->Swap(numbers, ask, asked);
  at::Tensor found = at::empty({wanted.size(0), columns}, at::kFloat);
  for (int64_t k = 0; k < wanted.size(0); ++k) {
    const int64_t row = wanted.data_ptr<int64_t>()[k] / size;
    std::copy_n(own.data_ptr<float>() + row * columns, columns, found.data_ptr<float>() + k * columns);
  }
  return group->Swap(found, asked, ask);
}

SharedTable::SharedTable(RankGroup* group, at::Tensor weights, at::Tensor first, at::Tensor second)
    : group_(group),
      size_(group->size()),
      weights_(std::move(weights)),
      first_(std::move(first)),
      second_(std::move(second)),
      place_of_(weights_.size(0), -1) {}

at::Tensor SharedTable::Rows(absl::Span<const int64_t> rows, std::vector<int64_t>* places) {
  fetched_ = FetchRows(group_, weights_, rows, places);
  return fetched_;
}

double SharedTable::Collect(absl::Span<const int64_t> rows, int64_t /*shared*/, float* gradient) {
  const int64_t columns = weights_.size(1);
  std::vector<int64_t> order;
  const std::vector<int64_t> send = SortByOwner(rows, size_, &order);
  const std::vector<int64_t> receive = CountsToReceive(group_, send);
  at::Tensor packed = at::empty({static_cast<int64_t>(order.size()), columns + kNumberFloats}, at::kFloat);
  float* out = packed.data_ptr<float>();
  for (int64_t i : order) {
    std::copy_n(gradient + i * columns, columns, out);
    std::memcpy(out + columns, &rows[i], sizeof(int64_t));
    out += columns + kNumberFloats;
  }
  const at::Tensor mine = group_->Swap(packed, send, receive);
  for (int64_t row : own_rows_) place_of_[row] = -1;
  own_rows_.clear();
  sum_.clear();
  const float* row = mine.data_ptr<float>();
  for (int64_t i = 0; i < mine.size(0); ++i, row += columns + kNumberFloats) {
    const int64_t own = RowNumber(row, columns) / size_;
    AddRow(row, columns, SumOf(own, columns, &place_of_, &own_rows_, &sum_));
  }
  at::Tensor norm =
      at::scalar_tensor(SquaredNorm(sum_.data(), static_cast<int64_t>(sum_.size())), at::kDouble).view({1});
  group_->Sum(norm);
  return norm.item<double>();
}

void SharedTable::Update(const AdamStep& step) {
  AdamRows(
      step, own_rows_, sum_.data(),
      {weights_.data_ptr<float>(), first_.data_ptr<float>(), second_.data_ptr<float>(), weights_.size(1)});
}

}  // namespace waymark
