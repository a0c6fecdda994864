// A table over ranks: a copy on each, kept equal by exchanging the rows that were touched, or a part on each,
// whose rows travel to where they are needed and whose gradients travel back.
//
// Includes LibTorch: for training/ only.
#pragma once
#include <vector>

#include "store/package/safetensors.h"
#include "training/distributed/rank_group.h"
#include "training/retriever/retriever_model.h"
#include "training/retriever/step_table.h"

namespace waymark {

// A row of a gradient with its number, as ranks exchange it: [columns + 2] floats, the last two of them the
// bits of the row's number.
at::Tensor PackRows(absl::Span<const int64_t> rows, const float* gradient, int64_t columns);
int64_t RowNumber(const float* packed, int64_t columns);

// Every rank has all rows, and makes the same update from the same sum, in the same order: copies stay equal
// bit for bit.
class CopiedTable : public WholeTable {
 public:
  CopiedTable(RankGroup* group, at::Tensor weights, at::Tensor first, at::Tensor second);
  // Of each rank, how many rows beside the shared ones the next Collect will bring.
  void SetCounts(std::vector<int64_t> counts) { counts_ = std::move(counts); }
  double Collect(absl::Span<const int64_t> rows, int64_t shared, float* gradient) override;
  void Update(const AdamStep& step) override;

 protected:
  RankGroup* group() const { return group_; }
  const std::vector<int64_t>& rows() const { return rows_; }
  const std::vector<float>& sum() const { return sum_; }

 private:
  RankGroup* group_;
  std::vector<int64_t> counts_;
  std::vector<int64_t> place_of_;  // [table rows]: in rows_, or -1
  std::vector<int64_t> rows_;      // that were touched, the same ones in the same order on every rank
  std::vector<float> sum_;         // [rows_, columns]
};

// All rows of a table that is shared in this way, put together in `all` on the ranks that want them; null on
// the others. own: [own rows, columns] on every rank; rows: of all of them. In pieces of a bounded size.
void GatherShares(RankGroup* group, const at::Tensor& own, int64_t rows, TensorData* all);

// Of a table of which row r lies on rank r % size: how many of `rows` each rank has, and the order that puts
// those of a rank together. Negative rows are nobody's.
std::vector<int64_t> SortByOwner(absl::Span<const int64_t> rows, int64_t size, std::vector<int64_t>* order);
// send[r] things go to rank r -> how many come from each.
std::vector<int64_t> CountsToReceive(RankGroup* group, const std::vector<int64_t>& send);
// The rows that this rank wants from all of them: rows[i] is row places[i] of the answer. own: [own rows,
// columns]. Called on all ranks.
at::Tensor FetchRows(RankGroup* group, const at::Tensor& own, absl::Span<const int64_t> rows,
                     std::vector<int64_t>* places);

// Row r lies on rank r % size.
class SharedTable : public StepTable {
 public:
  // weights, first, second: [own rows, columns]; all_rows: of all ranks together.
  SharedTable(RankGroup* group, at::Tensor weights, at::Tensor first, at::Tensor second);
  at::Tensor Rows(absl::Span<const int64_t> rows, std::vector<int64_t>* places) override;
  double Collect(absl::Span<const int64_t> rows, int64_t shared, float* gradient) override;
  void Update(const AdamStep& step) override;

 private:
  RankGroup* group_;
  int64_t size_;
  at::Tensor weights_, first_, second_;
  at::Tensor fetched_;
  std::vector<int64_t> place_of_;  // [own rows]: in own_rows_, or -1
  std::vector<int64_t> own_rows_;  // local numbers of the rows that were touched
  std::vector<float> sum_;
};

}  // namespace waymark
