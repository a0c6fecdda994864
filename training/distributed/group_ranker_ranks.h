// RankerRanks over a RankGroup. Includes LibTorch: for training/ only.
#pragma once
#include "training/distributed/rank_group.h"
#include "training/ranker/ranker_ranks.h"

namespace waymark {

class GroupRankerRanks : public RankerRanks {
 public:
  // parts: of a batch, on all ranks; width: of a row of the tables.
  GroupRankerRanks(RankGroup* group, int parts, int64_t width)
      : group_(group), parts_(parts), width_(width) {}
  void Gather(RankerGradients* gradients) override;

  // What this rank wants (bits of the caller's): after the next Gather asked() is what any rank has wanted.
  void Ask(int bits) { asking_ = bits; }
  int asked() const { return asked_; }

 private:
  RankGroup* group_;
  int parts_;
  int64_t width_;
  int asking_ = 0, asked_ = 0;
};

}  // namespace waymark
