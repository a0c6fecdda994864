#include "training/distributed/rank_tables.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace waymark {
namespace {

constexpr int64_t kNumberFloats = sizeof(int64_t) / sizeof(float);

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

SharedTable::SharedTable(RankGroup* group, at::Tensor weights, at::Tensor first, at::Tensor second)
    : group_(group),
      size_(group->size()),
      weights_(std::move(weights)),
      first_(std::move(first)),
      second_(std::move(second)),
      place_of_(weights_.size(0), -1) {}

std::vector<int64_t> SharedTable::SortByOwner(absl::Span<const int64_t> rows,
                                              std::vector<int64_t>* order) const {
  std::vector<int64_t> counts(size_, 0);
  for (int64_t row : rows) {
    if (row >= 0) ++counts[row % size_];
  }
  std::vector<int64_t> next(size_, 0);
  for (int64_t r = 1; r < size_; ++r) next[r] = next[r - 1] + counts[r - 1];
  order->resize(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= 0) (*order)[next[rows[i] % size_]++] = static_cast<int64_t>(i);
  }
  return counts;
}

std::vector<int64_t> SharedTable::CountsToReceive(const std::vector<int64_t>& send) {
  const std::vector<int64_t> ones(size_, 1);
  const at::Tensor counts =
      group_->Swap(at::from_blob(const_cast<int64_t*>(send.data()), {size_, 1}, at::kLong), ones, ones);
  return {counts.data_ptr<int64_t>(), counts.data_ptr<int64_t>() + size_};
}

at::Tensor SharedTable::Rows(absl::Span<const int64_t> rows, std::vector<int64_t>* places) {
  const int64_t columns = weights_.size(1);
  std::vector<int64_t> order;
  const std::vector<int64_t> ask = SortByOwner(rows, &order);
  const std::vector<int64_t> asked = CountsToReceive(ask);
  at::Tensor numbers = at::empty({static_cast<int64_t>(order.size()), 1}, at::kLong);
  places->assign(rows.size(), -1);
  for (size_t k = 0; k < order.size(); ++k) {
    numbers.data_ptr<int64_t>()[k] = rows[order[k]];
    (*places)[order[k]] = static_cast<int64_t>(k);
  }
  const at::Tensor wanted = group_->Swap(numbers, ask, asked);
  at::Tensor found = at::empty({wanted.size(0), columns}, at::kFloat);
  for (int64_t k = 0; k < wanted.size(0); ++k) {
    const int64_t own = wanted.data_ptr<int64_t>()[k] / size_;
    std::copy_n(weights_.data_ptr<float>() + own * columns, columns, found.data_ptr<float>() + k * columns);
  }
  fetched_ = group_->Swap(found, asked, ask);
  return fetched_;
}

double SharedTable::Collect(absl::Span<const int64_t> rows, int64_t /*shared*/, float* gradient) {
  const int64_t columns = weights_.size(1);
  std::vector<int64_t> order;
  const std::vector<int64_t> send = SortByOwner(rows, &order);
  const std::vector<int64_t> receive = CountsToReceive(send);
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
