// Which parameters of a ranker are where, as mesh/placement_table.h says it of a retriever: its tables over
// the ranks, the network on each.
//
// Includes LibTorch: for training/ only.
#pragma once
#include <string>
#include <vector>

#include "training/ranker/ranker_model.h"

namespace waymark {

// trained: of the first of `ranks` ranks, over which the tables are spread. Lines, without one at the end.
std::string RankerPlacementTable(const std::vector<RankerTensor>& trained, int ranks);

}  // namespace waymark
