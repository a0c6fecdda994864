// The step of one process against that of ranks, whose exchange is in memory here.
#include <barrier>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "tests/ranker_training/synthetic.h"
#include "tests/support/catch.h"
#include "training/ranker/ranker_model.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

constexpr size_t kParts = 4;

// What the ranks of one process share.
struct Meeting {
  explicit Meeting(int ranks) : arrive(ranks), leave(ranks), brought(ranks) {}
  std::barrier<> arrive, leave;
  std::vector<RankerGradients> brought;
};

// Puts together what all ranks bring, part by part, and keeps it.
class MetRanks : public RankerRanks {
 public:
  MetRanks(Meeting* meeting, int rank) : meeting_(meeting), rank_(rank) {}
  void Gather(RankerGradients* gradients) override {
    meeting_->brought[rank_] = *gradients;
    meeting_->arrive.arrive_and_wait();
    std::map<uint64_t, std::pair<const RankerGradients*, int64_t>> places;
    for (const RankerGradients& of_rank : meeting_->brought) {
      for (size_t p = 0; p < of_rank.parts.size(); ++p) {
        places[of_rank.parts[p]] = {&of_rank, static_cast<int64_t>(p)};
      }
    }
    RankerGradients all;
    std::vector<torch::Tensor> dense, touched;
    for (const auto& [part, place] : places) {
      const auto& [of_rank, p] = place;
      all.parts.push_back(part);
      all.losses.push_back(of_rank->losses[static_cast<size_t>(p)]);
      dense.push_back(of_rank->dense[p]);
      touched.push_back(of_rank->touched[p]);
      for (size_t t = 0; t < 3; ++t) all.tables[t].push_back(of_rank->tables[t][static_cast<size_t>(p)]);
    }
    all.dense = torch::stack(dense);
    all.touched = torch::stack(touched);
    meeting_->leave.arrive_and_wait();
    *gradients = last = std::move(all);
  }
  // Every rank has all rows here.
  torch::Tensor Fetch(size_t, const torch::Tensor& own, const torch::Tensor& rows) override {
    return own.index_select(0, rows);
  }
  RankerGradients last;

 private:
  Meeting* meeting_;
  int rank_;
};

struct Setting {
  RankingLists lists;
  RankerItems items;
  RankerConfig config;
  explicit Setting(Rule rule, const SyntheticDirectory& directory)
      : lists(ListsOf(MakeWorld(rule, 200, 0, 400, 11))),
        items(lists, RankingLists(lists.feature_count(), {}), directory, {1, 64}) {
    config.features = static_cast<int64_t>(lists.feature_count());
    config.items = static_cast<int64_t>(items.vocabulary().size());
    config.content_buckets = items.content_buckets();
    config.query_buckets = lists.with_query() > 0 ? 64 : 0;
  }
};

struct Ended {
  std::vector<double> losses;
  std::vector<torch::Tensor> dense;                  // [steps]
  std::vector<std::array<torch::Tensor, 3>> tables;  // [steps], of the whole tables
  TensorMap weights;
};

torch::Tensor WholeTableOf(const std::vector<RowTable::Part>& parts, int64_t rows, int64_t width) {
  torch::Tensor table = torch::zeros({rows, width});
  for (const auto& part : parts) {
    // A table that the part's lists do not look at has no gradient.
    if (part.gradient.defined()) table.index_add_(0, part.indices, part.gradient);
  }
  return table;
}

// Parts of a batch differ in size: a tenth, a fifth, three tenths and the rest.
std::vector<std::vector<size_t>> PartsOfStep(int step, size_t lists) {
  std::vector<std::vector<size_t>> parts(kParts);
  for (size_t i = 0; i < 40; ++i) {
    const size_t part = i < 4 ? 0 : i < 12 ? 1 : i < 24 ? 2 : 3;
    parts[part].push_back((static_cast<size_t>(step) * 40 + i) % lists);
  }
  return parts;
}

Ended Train(const Setting& s, int ranks, int steps) {
  Meeting meeting(ranks);
  Ended ended;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      at::set_num_threads(1);
      RankerModel model(s.config, 5);
      MetRanks exchange(&meeting, r);
      std::vector<RankerBatcher> batchers;
      for (size_t p = 0; p < kParts; ++p) batchers.emplace_back(s.config, &s.items);
      ShardPool pool(1);
      for (int step = 1; step <= steps; ++step) {
        const auto parts = PartsOfStep(step, s.lists.size());
        RankerShare share;
        share.lists = 40;
        share.ranks = &exchange;
        std::vector<RankerBatch> shards;
        for (size_t p = static_cast<size_t>(r); p < kParts; p += static_cast<size_t>(ranks)) {
          shards.push_back(batchers[p].Make(s.lists, parts[p]));
          share.parts.push_back(p);
        }
        const double loss = model.Step(shards, {}, step, {}, 77 * static_cast<uint64_t>(step), &pool, share);
        if (r != 0) continue;
        ended.losses.push_back(loss);
        ended.dense.push_back(exchange.last.dense.sum(0));
        const auto& t = exchange.last.tables;
        ended.tables.push_back({WholeTableOf(t[0], s.config.items, s.config.width),
                                WholeTableOf(t[1], s.config.content_buckets, s.config.width),
                                WholeTableOf(t[2], s.config.query_buckets, s.config.width)});
      }
      std::lock_guard lock(mutex);
      const TensorMap weights = model.Weights();
      if (ended.weights.empty()) ended.weights = weights;
      // Every rank ends with the same bits.
      for (const auto& [name, data] : weights) CHECK(ended.weights.at(name).bytes == data.bytes);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ended;
}

double Apart(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.numel() == 0) return 0;
  return (a - b).norm().item<double>() / std::max(b.norm().item<double>(), 1e-12);
}

TEST_CASE("losses and gradients of 2, 3 and 4 ranks are those of one, over 50 steps") {
  const SyntheticDirectory directory(400, 10);
  for (const Rule rule : {Rule::kCategoryOfLastItem, Rule::kCategoryOfQuery}) {
    const Setting setting(rule, directory);
    const Ended one = Train(setting, 1, 50);
    CHECK(one.losses.back() < one.losses.front());
    for (const int ranks : {2, 3, 4}) {
      INFO(ranks << " ranks");
      const Ended several = Train(setting, ranks, 50);
      for (size_t step = 0; step < 50; ++step) {
        CHECK(several.losses[step] == one.losses[step]);
        CHECK(Apart(several.dense[step], one.dense[step]) < 1e-5);
        for (size_t t = 0; t < 3; ++t) CHECK(Apart(several.tables[step][t], one.tables[step][t]) < 1e-5);
      }
    }
  }
}

TEST_CASE("a step with ranks is the step without, also where some parameters have no gradient") {
  const SyntheticDirectory directory(400, 10);
  // No list has a query: the attention to words is never touched, and weight decay must leave it alone.
  const Setting setting(Rule::kCategoryOfLastItem, directory);
  const Ended ranks = Train(setting, 2, 5);
  RankerModel model(setting.config, 5);
  std::vector<RankerBatcher> batchers;
  for (size_t p = 0; p < kParts; ++p) batchers.emplace_back(setting.config, &setting.items);
  ShardPool pool(1);
  for (int step = 1; step <= 5; ++step) {
    const auto parts = PartsOfStep(step, setting.lists.size());
    std::vector<RankerBatch> shards;
    for (size_t p = 0; p < kParts; ++p) shards.push_back(batchers[p].Make(setting.lists, parts[p]));
    const double loss = model.Step(shards, {}, step, {}, 77 * static_cast<uint64_t>(step), &pool);
    CHECK(ranks.losses[static_cast<size_t>(step) - 1] == Approx(loss).epsilon(1e-5));
  }
  const TensorMap weights = model.Weights();
  const auto words = weights.at("words_key").floats(), of_ranks = ranks.weights.at("words_key").floats();
  CHECK(words == of_ranks);  // as it began
  const RankerModel begun(setting.config, 5);
  CHECK(begun.Weights().at("words_key").bytes == weights.at("words_key").bytes);
}

TEST_CASE("A share of a table begins with the values that its rows have in the whole one") {
  for (const auto& [rows, width] : {std::pair{int64_t{20000}, int64_t{32}}, {8193, 6}, {5, 4}, {2, 32}}) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(uint64_t{9});
    const RowTable whole(rows, width, 0.1, generator);
    const RowTable next(7, width, 0.1, generator);
    for (int64_t rank = 0; rank < 3; ++rank) {
      auto again = at::make_generator<at::CPUGeneratorImpl>(uint64_t{9});
      const RowTable share(rows, width, 0.1, again, {rank, 3});
      CHECK(share.rows() == rows);
      CHECK(at::equal(share.values(), whole.values().slice(0, std::min(rank, rows), std::nullopt, 3)));
      // What comes after it does not depend on the share.
      CHECK(at::equal(RowTable(7, width, 0.1, again).values(), next.values()));
    }
  }
}

}  // namespace
}  // namespace waymark
