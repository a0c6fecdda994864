// Steps with items that have no row of the id table, or another one than their number.
#include <torch/torch.h>

#include <algorithm>
#include <numeric>

#include "tests/retriever_training/training_fixture.h"
#include "tests/support/catch.h"
#include "training/retriever/retriever_step.h"
#include "training/retriever/retriever_validation.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures

// Every second item has content.
MemoryDirectory ItemsWithContent(ItemOrdinal count) {
  MemoryDirectory items;
  for (ItemOrdinal i = 0; i < count; ++i) {
    items.Add("item" + std::to_string(i),
              i % 2 == 0 ? std::vector<uint64_t>{1000 + i, 7} : std::vector<uint64_t>{});
  }
  return items;
}

struct Trained {
  std::vector<double> losses;
  at::Tensor dense, ids;
  double ndcg10 = 0;
};

// rows: of the id table; they begin as those of their items do.
Trained TrainSome(RetrieverCorpus corpus, const RetrieverOptions& options,
                  const std::vector<int64_t>* id_rows, int64_t rows, int steps) {
  corpus.id_rows = id_rows;
  RetrieverModel model(options.shape, rows, options.seed);
  for (size_t i = 0; id_rows != nullptr && i < id_rows->size(); ++i) {
    if ((*id_rows)[i] != kNoRow) model.BeginRow((*id_rows)[i], static_cast<int64_t>(i), options.seed);
  }
  ShardPool pool(1);
  RetrieverStep step(&model, &corpus, options, &pool);
  const std::vector<TrainingBatch> batches = BatchesOfEpoch(corpus, options, 0);
  Trained trained;
  for (int s = 0; s < steps; ++s) {
    trained.losses.push_back(step.Run(batches[s % batches.size()], s + 1, 3e-3));
  }
  trained.dense = model.dense.flat;
  trained.ids = model.tables.id;
  trained.ndcg10 = ValidateRetriever(model, corpus, 1000, &pool).ndcg10;
  return trained;
}

TEST_CASE("Where all items have rows, in whatever order, every bit is that of a table of all items") {
  const Interactions events = MarkovHistories(120, 12, 60, 2, 5);
  RetrieverOptions options = SmallOptions();
  options.negatives = 20;
  const MemoryDirectory items = ItemsWithContent(60);
  const auto corpus = MakeRetrieverCorpus(events, items, options);
  REQUIRE(corpus.ok());
  REQUIRE(corpus->vocabulary.size() == 60);
  const Trained plain = TrainSome(*corpus, options, nullptr, 60, 12);
  std::vector<int64_t> rows(60);
  for (int64_t i = 0; i < 60; ++i) rows[i] = (i * 7 + 3) % 60;
  const Trained other = TrainSome(*corpus, options, &rows, 60, 12);
  CHECK(plain.losses == other.losses);
  CHECK(plain.losses.front() > plain.losses.back());
  CHECK(at::equal(plain.dense, other.dense));
  CHECK(at::equal(plain.ids, other.ids.index_select(0, at::tensor(rows, at::kLong))));
  CHECK(plain.ndcg10 == other.ndcg10);
}

TEST_CASE("Items without row and content are one item to the network, and one class of the softmax") {
  // Nobody has a row or content: all targets are the one class that there is, and its loss is log 1.
  const Interactions events = MarkovHistories(50, 8, 30, 2, 5);
  const RetrieverOptions options = SmallOptions();
  const auto corpus = MakeRetrieverCorpus(events, PlainItems(30), options);
  REQUIRE(corpus.ok());
  const std::vector<int64_t> none(corpus->vocabulary.size(), kNoRow);
  for (double loss : TrainSome(*corpus, options, &none, 1, 3).losses) CHECK(loss == Approx(0).margin(1e-6));

  // Half of the items have rows, and the negatives are all: the first loss is near log(15 + 1), where that of
  // 30 items is near log 30.
  std::vector<int64_t> half(30, kNoRow);
  for (int64_t i = 0; i < 15; ++i) half[2 * i] = i;
  RetrieverOptions soft = options;
  soft.shape.temperature = 1000;  // so that every class is as likely as the others
  CHECK(TrainSome(*corpus, soft, &half, 15, 1).losses[0] == Approx(std::log(16.0)).epsilon(1e-3));
  CHECK(TrainSome(*corpus, soft, nullptr, 30, 1).losses[0] == Approx(std::log(30.0)).epsilon(1e-3));
}

TEST_CASE("An item without a row that has content is told apart by it") {
  const Interactions events = MarkovHistories(50, 8, 30, 2, 5);
  RetrieverOptions options = SmallOptions();
  const auto corpus = MakeRetrieverCorpus(events, ItemsWithContent(30), options);
  REQUIRE(corpus.ok());
  const std::vector<int64_t> none(corpus->vocabulary.size(), kNoRow);
  options.shape.temperature = 1000;
  // 15 with content of their own, and one for all others.
  CHECK(TrainSome(*corpus, options, &none, 1, 1).losses[0] == Approx(std::log(16.0)).epsilon(1e-3));
}

TEST_CASE("A row begins for its item as the table of all items does, with moments of zero, where it lies") {
  const RetrieverOptions options = SmallOptions();
  const RetrieverModel whole(options.shape, 40, 3);
  for (const bool shared_moments : {false, true}) {
    for (int64_t rank = 0; rank < 3; ++rank) {
      ModelShare share;
      if (shared_moments) {
        share.moments = {rank, 3};
      } else {
        share.rows = {rank, 3};
      }
      RetrieverModel model(options.shape, 10, 3, share);
      for (at::Tensor* t : {&model.tables.id, &model.id_moments.first, &model.id_moments.second}) t->fill_(9);
      model.BeginRow(7, 31, 3);  // of rank 1: its rows are 1, 4, 7
      const bool has_row = shared_moments || rank == 1;
      const int64_t own = shared_moments ? 7 : 2;
      if (has_row) CHECK(at::equal(model.tables.id[own], whole.tables.id[31]));
      CHECK(at::sum(model.tables.id == 9).item<int64_t>() == model.tables.id.numel() - (has_row ? 32 : 0));
      for (const at::Tensor& moments : {model.id_moments.first, model.id_moments.second}) {
        CHECK(at::sum(moments == 0).item<int64_t>() == (rank == 1 ? 32 : 0));
        if (rank == 1) CHECK(at::sum(moments[2]).item<double>() == 0);
      }
    }
  }
}

}  // namespace
}  // namespace waymark
