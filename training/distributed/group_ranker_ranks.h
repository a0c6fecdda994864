// RankerRanks over a RankGroup. Includes LibTorch: for training/ only.
#pragma once
#include "training/distributed/rank_group.h"
#include "training/ranker/ranker_ranks.h"

namespace waymark {

class GroupRankerRanks : public RankerRanks {
 public:
  // parts: of a batch, on all ranks; width: of a row of the tables.
  // share_rows: of the tables row r lies on rank r % size, else each rank has all of them.
  GroupRankerRanks(RankGroup* group, int parts, int64_t width, bool share_rows)
      : group_(group), parts_(parts), width_(width), share_rows_(share_rows) {}
  void Gather(RankerGradients* gradients) override;
  torch::Tensor Fetch(size_t t, const torch::Tensor& own, const torch::Tensor& rows) override;

  // What this rank wants (bits of the caller's): after the next Gather asked() is what any rank has wanted.
  void Ask(int bits) { asking_ = bits; }
  int asked() const { return asked_; }

 private:
  // What this rank's parts come to goes to the owners of the rows. parts: of this rank -> of all of them.
  std::vector<RowTable::Part> SendToOwners(const std::vector<uint64_t>& numbers,
                                           const std::vector<RowTable::Part>& parts,
                                           const std::vector<uint64_t>& all_numbers) const;

  RankGroup* group_;
  int parts_;
  int64_t width_;
  bool share_rows_;
  int asking_ = 0, asked_ = 0;
};

}  // namespace waymark
