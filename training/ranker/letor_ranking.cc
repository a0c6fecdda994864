#include "training/ranker/letor_ranking.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

// Rows of such files are nobody's items.
class NoItems : public ItemDirectory {
 public:
  std::optional<ItemOrdinal> Find(std::string_view) const override { return std::nullopt; }
  std::vector<std::string> Ids(absl::Span<const ItemOrdinal> items) const override {
    return std::vector<std::string>(items.size());
  }
  ItemOrdinal End() const override { return 0; }
  bool Live(ItemOrdinal) const override { return false; }
  void Content(absl::Span<const ItemOrdinal> items,
               std::vector<std::vector<uint64_t>>* hashes) const override {
    hashes->assign(items.size(), {});
  }
};

absl::Status AddQueries(const LetorData& data, size_t features, bool all, RankingLists* lists) {
  std::vector<float> rows, gains;
  for (size_t q = 0; q < data.queries(); ++q) {
    const size_t first = data.query_starts[q], count = data.query_starts[q + 1] - first;
    rows.assign(count * features, 0.f);
    gains.assign(count, 0.f);
    float total = 0;
    for (size_t i = 0; i < count; ++i) {
      for (uint64_t at = data.row_starts[first + i]; at < data.row_starts[first + i + 1]; ++at) {
        // What only the test file has was never learned.
        if (data.indices[at] < features) rows[i * features + data.indices[at]] = data.values[at];
      }
      gains[i] = std::exp2(data.labels[first + i]) - 1;
      total += gains[i];
    }
    if (total <= 0) {
      if (!all) {
        lists->CountWithoutTarget();
        continue;
      }
      gains.assign(count, 1.f);  // only scored
    }
    const std::vector<ItemOrdinal> items(count, kNoItem);
    RankingList list;
    list.features = rows;
    list.candidates = items;
    list.gains = gains;
    if (auto status = lists->Add(list); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<float>> RankLetor(const LetorData& train, const LetorData& test,
                                             const RankerTrainerOptions& options,
                                             const RankerProgressCallback& progress, std::stop_token stop) {
  const size_t features = train.feature_count;
  RankingLists train_lists(features, {}), test_lists(features, {}), none(features, {});
  if (auto status = AddQueries(train, features, false, &train_lists); !status.ok()) return status;
  if (auto status = AddQueries(test, features, true, &test_lists); !status.ok()) return status;
  const NoItems directory;
  auto trained = TrainRanker(train_lists, none, directory, options, progress, stop);
  if (!trained.ok()) return trained.status();
  auto scores = ScoreRankingLists(*trained, test_lists, directory);
  if (!scores.ok()) return scores.status();
  std::vector<float> flat;
  for (const std::vector<float>& list : *scores) flat.insert(flat.end(), list.begin(), list.end());
  return flat;
}

absl::StatusOr<std::vector<float>> CrossRankLetor(const LetorData& data, size_t folds,
                                                  const RankerTrainerOptions& options,
                                                  const RankerProgressCallback& progress,
                                                  std::stop_token stop) {
  if (folds < 2 || folds > data.queries()) {
    return absl::InvalidArgumentError(
        absl::StrCat("folds is ", folds, "; it takes 2 to the number of queries, ", data.queries()));
  }
  std::vector<float> all(data.rows(), 0.f);
  for (size_t fold = 0; fold < folds; ++fold) {
    std::vector<size_t> held, rest;
    for (size_t q = 0; q < data.queries(); ++q) (q % folds == fold ? held : rest).push_back(q);
    auto scores = RankLetor(data.Subset(rest), data.Subset(held), options, progress, stop);
    if (!scores.ok()) return scores.status();
    size_t at = 0;
    for (size_t q : held) {
      for (uint64_t row = data.query_starts[q]; row < data.query_starts[q + 1]; ++row)
        all[row] = (*scores)[at++];
    }
  }
  return all;
}

}  // namespace waymark
