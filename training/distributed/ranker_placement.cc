#include "training/distributed/ranker_placement.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "training/distributed/mesh/placement_text.h"

namespace waymark {

std::string RankerPlacementTable(const std::vector<RankerTensor>& trained, int ranks) {
  std::vector<PlacementLine> lines;
  int64_t network = 0, whole_tables = 0, first_rank = 0;
  for (const RankerTensor& t : trained) {
    int64_t numbers = 1;
    for (int64_t n : t.shape) numbers *= n;
    (t.table ? whole_tables : network) += numbers;
    if (t.table) first_rank += t.tensor.numel();
    lines.push_back({t.name, absl::StrJoin(t.shape, "x"),
                     t.table ? absl::StrCat("rows, over the ", ranks, " ranks") : "on every rank", numbers});
  }
  return absl::StrCat(PlacementText("parameters of the ranker", lines), "\n  a rank: network ",
                      GroupedDigits(network), ", tables up to ", GroupedDigits(first_rank), " of ",
                      GroupedDigits(whole_tables), ", AdamW's moments twice as many");
}

}  // namespace waymark
