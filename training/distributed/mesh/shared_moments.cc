#include "training/distributed/mesh/shared_moments.h"

#include <algorithm>
#include <numeric>

namespace waymark {
namespace {

constexpr int64_t kPieceFloats = int64_t{1} << 18;  // of each rank: 1 MiB

void CopyRow(const float* from, int64_t columns, float* to) { std::copy_n(from, columns, to); }

}  // namespace

void UpdateSlices(const AdamStep& step, const at::Tensor& gradient, RankGroup* group, RetrieverModel* model) {
  const at::Tensor& flat = model->dense.flat;
  float* weights = flat.data_ptr<float>();
  const FlatSlice own = model->share.MomentsOf(flat.numel());
  AdamMoments& moments = model->dense_moments;
  AdamRows(
      step, {0}, gradient.data_ptr<float>() + own.first,
      {weights + own.first, moments.first.data_ptr<float>(), moments.second.data_ptr<float>(), own.count});
  ModelShare of_rank = model->share;
  of_rank.moments.first = 0;
  const int64_t most = of_rank.MomentsOf(flat.numel()).count;
  for (int64_t at = 0; at < most; at += kPieceFloats) {
    const int64_t piece = std::min(kPieceFloats, most - at);
    at::Tensor sent = at::zeros({piece}, at::kFloat);
    if (own.count > at) {
      std::copy_n(weights + own.first + at, std::min(piece, own.count - at), sent.data_ptr<float>());
    }
    const at::Tensor all = group->Gather(sent).contiguous();
    for (int r = 0; r < group->size(); ++r) {
      of_rank.moments.first = r;
      const FlatSlice slice = of_rank.MomentsOf(flat.numel());
      if (r == group->rank() || slice.count <= at) continue;
      std::copy_n(all.data_ptr<float>() + r * piece, std::min(piece, slice.count - at),
                  weights + slice.first + at);
    }
  }
}

MomentSharedTable::MomentSharedTable(RankGroup* group, at::Tensor weights, at::Tensor first,
                                     at::Tensor second)
    : CopiedTable(group, std::move(weights), first, second),
      first_(std::move(first)),
      second_(std::move(second)) {}

void MomentSharedTable::Update(const AdamStep& step) {
  const int64_t ranks = group()->size(), own_rank = group()->rank(), width = columns();
  std::vector<std::vector<int64_t>> places(ranks);  // in rows(), of the rows whose moments each rank has
  for (size_t i = 0; i < rows().size(); ++i) places[rows()[i] % ranks].push_back(static_cast<int64_t>(i));
  // The own rows with their moments and gradients, close together as Adam wants them.
  const std::vector<int64_t>& own = places[own_rank];
  const auto count = static_cast<int64_t>(own.size());
  at::Tensor w = at::empty({count, width}, at::kFloat), g = at::empty_like(w), first = at::empty_like(w),
             second = at::empty_like(w);
  const auto copy = [&](bool back) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = rows()[own[i]], at = row / ranks * width, to = i * width;
      for (const auto& [table, gathered] : {std::pair{weights().data_ptr<float>() + row * width, &w},
                                            {first_.data_ptr<float>() + at, &first},
                                            {second_.data_ptr<float>() + at, &second}}) {
        float* near = gathered->data_ptr<float>() + to;
        back ? CopyRow(near, width, table) : CopyRow(table, width, near);
      }
      if (!back) CopyRow(sum().data() + own[i] * width, width, g.data_ptr<float>() + to);
    }
  };
  copy(false);
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  AdamRows(step, numbers, g.data_ptr<float>(),
           {w.data_ptr<float>(), first.data_ptr<float>(), second.data_ptr<float>(), width});
  copy(true);
  std::vector<int64_t> counts;
  for (const auto& of_rank : places) counts.push_back(static_cast<int64_t>(of_rank.size()));
  const std::vector<at::Tensor> updated = group()->GatherRows(w, counts);
  for (int64_t r = 0; r < ranks; ++r) {
    if (r == own_rank) continue;
    const at::Tensor of_rank = updated[r].contiguous();
    for (int64_t i = 0; i < counts[r]; ++i) {
      CopyRow(of_rank.data_ptr<float>() + i * width, width,
              weights().data_ptr<float>() + rows()[places[r][i]] * width);
    }
  }
}

}  // namespace waymark
