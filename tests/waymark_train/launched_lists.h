// Runs waymark-train on shards of ranking lists with a rule that a ranker learns in a few epochs.
#pragma once
#include "tests/ranker_training/synthetic.h"
#include "tests/shards/written_lists.h"
#include "tests/waymark_train/launched.h"

namespace waymark::tests {

class ListTrainFolder : public TrainFolder {
 public:
  explicit ListTrainFolder(Rule rule = Rule::kLargestFeature, size_t lists = 300, int files = 7)
      : train(ListsOf(MakeWorld(rule, lists, 0, 400, 1))),
        validation(ListsOf(MakeWorld(rule, lists / 3, 0, 400, 2))),
        index(WriteListShards(*this / "shards", files, train, validation, directory)) {}

  std::vector<std::string> ListCommand(const std::string& package,
                                       const std::vector<std::string>& options) const {
    return Command(package, options,
                   {"--batch-lists", "25", "--epochs", "6", "--patience", "6", "--timeout", "20"});
  }

  const SyntheticDirectory directory{400, 10};
  const RankingLists train, validation;
  const storage::ListsIndex index;
};

}  // namespace waymark::tests
