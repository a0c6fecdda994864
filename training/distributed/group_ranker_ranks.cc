#include "training/distributed/group_ranker_ranks.h"

#include <functional>
#include <map>

#include "training/distributed/rank_tables.h"

namespace waymark {
namespace {

constexpr size_t kTables = 3;
// Said of a part: its number, its loss, its rows of each table.
constexpr int64_t kOfPart = 2 + kTables;

// A table that the part's lists do not look at has no gradient.
int64_t RowsOfPart(const RowTable::Part& part) { return part.gradient.defined() ? part.indices.size(0) : 0; }

RowTable::Part UnpackRows(const at::Tensor& rows, int64_t width) {
  const at::Tensor packed = rows.contiguous();
  RowTable::Part part;
  part.indices = at::empty({packed.size(0)}, at::kLong);
  for (int64_t i = 0; i < packed.size(0); ++i) {
    part.indices.data_ptr<int64_t>()[i] = RowNumber(packed.data_ptr<float>() + i * packed.size(1), width);
  }
  part.gradient = packed.narrow(1, 0, width).contiguous();
  return part;
}

// The rows of all parts of a rank, one after the other.
at::Tensor PackParts(const std::vector<RowTable::Part>& parts, int64_t width) {
  std::vector<at::Tensor> packed = {PackRows({}, nullptr, width)};
  for (const RowTable::Part& part : parts) {
    if (RowsOfPart(part) == 0) continue;
    const at::Tensor indices = part.indices.contiguous(), gradient = part.gradient.contiguous();
    packed.push_back(PackRows({indices.data_ptr<int64_t>(), static_cast<size_t>(indices.size(0))},
                              gradient.data_ptr<float>(), width));
  }
  return at::cat(packed);
}

// A row's number with that of its part.
constexpr int64_t kPartShift = 40;

}  // namespace

torch::Tensor GroupRankerRanks::Fetch(size_t /*t*/, const torch::Tensor& own, const torch::Tensor& rows) {
  const at::Tensor wanted = rows.contiguous();
  std::vector<int64_t> places;
  const at::Tensor found =
      FetchRows(group_, own, {wanted.data_ptr<int64_t>(), static_cast<size_t>(wanted.numel())}, &places);
  return found.index_select(0, at::tensor(places, at::kLong));
}

std::vector<RowTable::Part> GroupRankerRanks::SendToOwners(const std::vector<uint64_t>& numbers,
                                                           const std::vector<RowTable::Part>& parts,
                                                           const std::vector<uint64_t>& all_numbers) const {
  const int64_t size = group_->size();
  std::vector<int64_t> rows, named, order;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (RowsOfPart(parts[p]) == 0) continue;
    const at::Tensor indices = parts[p].indices.contiguous();
    for (int64_t i = 0; i < indices.numel(); ++i) {
      rows.push_back(indices.data_ptr<int64_t>()[i]);
      named.push_back(static_cast<int64_t>(numbers[p]) << kPartShift | rows.back());
    }
  }
  const std::vector<int64_t> send = SortByOwner(rows, size, &order), receive = CountsToReceive(group_, send);
  std::vector<at::Tensor> gradients = {at::empty({0, width_}, at::kFloat)};
  for (const RowTable::Part& part : parts) {
    if (RowsOfPart(part) > 0) gradients.push_back(part.gradient);
  }
  const at::Tensor gradient = at::cat(gradients);
  const at::Tensor packed = PackRows(named, gradient.data_ptr<float>(), width_);
  const at::Tensor mine = group_->Swap(packed.index_select(0, at::tensor(order, at::kLong)), send, receive);
  // All rows of a part come from one rank, in their order.
  std::map<uint64_t, std::vector<int64_t>> own_rows, from;
  for (int64_t i = 0; i < mine.size(0); ++i) {
    const int64_t name = RowNumber(mine.data_ptr<float>() + i * mine.size(1), width_);
    const auto part = static_cast<uint64_t>(name >> kPartShift);
    own_rows[part].push_back((name & ((int64_t{1} << kPartShift) - 1)) / size);
    from[part].push_back(i);
  }
  std::vector<RowTable::Part> all(all_numbers.size());
  for (size_t p = 0; p < all_numbers.size(); ++p) {
    const auto found = own_rows.find(all_numbers[p]);
    if (found == own_rows.end()) continue;
    all[p].indices = at::tensor(found->second, at::kLong);
    all[p].gradient =
        mine.index_select(0, at::tensor(from[all_numbers[p]], at::kLong)).narrow(1, 0, width_).contiguous();
  }
  return all;
}

void GroupRankerRanks::Gather(RankerGradients* g) {
  const int64_t most = (parts_ + group_->size() - 1) / group_->size();  // parts of a rank
  at::Tensor own = at::full({1 + most * kOfPart}, -1, at::kDouble);
  double* said = own.data_ptr<double>();
  said[0] = asking_;
  for (size_t p = 0; p < g->parts.size(); ++p) {
    double* of_part = said + 1 + static_cast<int64_t>(p) * kOfPart;
    of_part[0] = static_cast<double>(g->parts[p]);
    of_part[1] = g->losses[p];
    for (size_t t = 0; t < kTables; ++t) of_part[2 + t] = static_cast<double>(RowsOfPart(g->tables[t][p]));
  }
  const at::Tensor all = group_->Gather(own).contiguous();
  asked_ = 0;
  std::map<uint64_t, const double*> of_parts;  // what was said of each
  for (int r = 0; r < group_->size(); ++r) {
    const double* of_rank = all.data_ptr<double>() + own.size(0) * r;
    asked_ |= static_cast<int>(of_rank[0]);
    for (int64_t p = 0; p < most; ++p) {
      const double* of_part = of_rank + 1 + p * kOfPart;
      if (of_part[0] >= 0) of_parts[static_cast<uint64_t>(of_part[0])] = of_part;
    }
  }
  const std::vector<uint64_t> own_parts = std::move(g->parts);
  g->parts.clear();
  g->losses.clear();
  for (const auto& [part, of_part] : of_parts) {
    g->parts.push_back(part);
    g->losses.push_back(of_part[1]);
  }
  // rows: of this rank's parts; count_of: how many of them a part has. Those of all parts, in their order.
  const auto gather = [&](const at::Tensor& rows, const std::function<int64_t(const double*)>& count_of) {
    std::vector<int64_t> counts(static_cast<size_t>(group_->size()), 0), next = counts;
    for (const auto& [part, of_part] : of_parts) counts[part % counts.size()] += count_of(of_part);
    const std::vector<at::Tensor> gathered = group_->GatherRows(rows, counts);
    std::vector<at::Tensor> of_each;
    for (const auto& [part, of_part] : of_parts) {
      const size_t rank = part % counts.size();  // as PartsOfRank deals them
      const int64_t count = count_of(of_part);
      of_each.push_back(gathered[rank].narrow(0, next[rank], count));
      next[rank] += count;
    }
    return of_each;
  };
  const int64_t floats = g->dense.size(1), parameters = g->touched.size(1);
  const at::Tensor dense =
      at::cat(gather(at::cat({g->dense, g->touched}, 1), [](const double*) { return int64_t{1}; }));
  g->dense = dense.narrow(1, 0, floats);
  g->touched = dense.narrow(1, floats, parameters);
  for (size_t t = 0; t < kTables && share_rows_; ++t) {
    // A table without rows is nobody's.
    bool touched = false;
    for (const auto& [part, of_part] : of_parts) touched |= of_part[2 + t] > 0;
    g->tables[t] = touched ? SendToOwners(own_parts, g->tables[t], g->parts)
                           : std::vector<RowTable::Part>(g->parts.size());
  }
  for (size_t t = 0; t < kTables && !share_rows_; ++t) {
    const auto rows = gather(PackParts(g->tables[t], width_),
                             [t](const double* of_part) { return static_cast<int64_t>(of_part[2 + t]); });
    g->tables[t].clear();
    for (const at::Tensor& of_part : rows) g->tables[t].push_back(UnpackRows(of_part, width_));
  }
}

}  // namespace waymark
