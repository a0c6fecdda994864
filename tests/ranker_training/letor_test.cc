#include "training/evaluation/letor.h"

#include <sstream>

#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "training/ranker/letor_ranking.h"

namespace waymark {
namespace {

absl::StatusOr<LetorData> Read(const std::string& rows, const char* sizes = nullptr) {
  std::istringstream in(rows), counts(sizes == nullptr ? "" : sizes);
  return ReadLetor(in, sizes == nullptr ? nullptr : &counts, "f");
}

TEST_CASE("rows with qid are grouped by it") {
  const auto data = Read(
      "2 qid:7 1:0.5 3:-1e-2 # a comment\n"
      "\n"
      "0 qid:7 2:4\n"
      "1 qid:9\n");
  REQUIRE(data.ok());
  CHECK(data->labels == std::vector<float>{2, 0, 1});
  CHECK(data->query_starts == std::vector<uint64_t>{0, 2, 3});
  CHECK(data->feature_count == 4);
  std::vector<float> row(4);
  data->ReadRow(0, absl::MakeSpan(row));
  CHECK(row == std::vector<float>{0, 0.5f, 0, -0.01f});
  const LetorData last = data->Subset({1});
  CHECK(last.labels == std::vector<float>{1});
  CHECK(last.queries() == 1);
}

TEST_CASE("rows without qid are grouped by the file of sizes") {
  const auto data = Read("0 1:1\n3 1:2\n1 2:1\n", "2\n1\n");
  REQUIRE(data.ok());
  CHECK(data->query_starts == std::vector<uint64_t>{0, 2, 3});
}

TEST_CASE("what can't be read is named with its line") {
  const auto says = [](const absl::StatusOr<LetorData>& data, const std::string& text) {
    CHECK(absl::IsInvalidArgument(data.status()));
    INFO(data.status().ToString());
    CHECK(std::string(data.status().message()).find(text) != std::string::npos);
  };
  says(Read("1 qid:1 1:1\nx qid:1 1:1\n"), "f line 2: the label 'x'");
  says(Read("-1 qid:1 1:1\n"), "f line 1: the label '-1'");
  says(Read("1 qid:1 1:1 2\n"), "f line 1: '2' is not index:value");
  says(Read("1 qid:1 1:nan\n"), "'1:nan'");
  says(Read("1 qid:1 99999999:1\n"), "index of at most");
  says(Read("1 1:1\n"), "f line 1: there is no qid:N");
  says(Read("1 qid:1\n1 qid:2\n1 qid:1\n"), "f line 3: qid:1 comes again");
  says(Read("1 1:1\n", "2\n"), "f.query line 1: '2'");
  says(Read("1 1:1\n2 1:1\n", "1\n"), "f.query counts 1 rows; f has 2");
  says(Read("", "1\n"), "f.query line 1");
  CHECK(absl::IsNotFound(ReadLetor("/nowhere/at/all").status()));
}

TEST_CASE("nDCG of LightGBM's example is that of an independent calculation") {
  if (!tests::HaveData("lightgbm-lambdarank")) return;
  const auto data = ReadLetor(tests::SharedData() / "lightgbm-lambdarank" / "rank.train");
  REQUIRE(data.ok());
  // 3,005 rows and 201 queries stand in its README.
  CHECK(data->rows() == 3005);
  CHECK(data->queries() == 201);
  CHECK(data->feature_count == 301);
  // Figures of a 20-line Python script (fsum of a row's values; the value of feature 9; all equal).
  std::vector<float> sums(data->rows()), ninth(data->rows());
  const std::vector<float> equal(data->rows(), 0.f);
  std::vector<float> row(data->feature_count);
  for (size_t r = 0; r < data->rows(); ++r) {
    data->ReadRow(r, absl::MakeSpan(row));
    double sum = 0;
    for (float v : row) sum += v;
    sums[r] = static_cast<float>(sum);
    ninth[r] = row[9];
  }
  const LetorReport by_sum = EvaluateLetor(*data, sums);
  CHECK(by_sum.queries == 198);
  CHECK(by_sum.queries_without_relevant == 3);
  CHECK(by_sum.ndcg1 == Approx(0.499327).margin(1e-4));
  CHECK(by_sum.ndcg3 == Approx(0.546235).margin(1e-4));
  CHECK(by_sum.ndcg5 == Approx(0.595213).margin(1e-4));
  CHECK(by_sum.ndcg10 == Approx(0.702032).margin(1e-4));
  const LetorReport by_ninth = EvaluateLetor(*data, ninth);
  CHECK(by_ninth.ndcg1 == Approx(0.443024).margin(1e-6));
  CHECK(by_ninth.ndcg10 == Approx(0.654066).margin(1e-6));
  const LetorReport by_nothing = EvaluateLetor(*data, equal);
  CHECK(by_nothing.ndcg1 == Approx(0.385879).margin(1e-6));
  CHECK(by_nothing.ndcg5 == Approx(0.489307).margin(1e-6));
}

TEST_CASE("the ranking network, trained on LightGBM's example, is better than its best feature") {
  if (!tests::HaveData("lightgbm-lambdarank")) return;
  const auto train = ReadLetor(tests::SharedData() / "lightgbm-lambdarank" / "rank.train");
  const auto test = ReadLetor(tests::SharedData() / "lightgbm-lambdarank" / "rank.test");
  REQUIRE(train.ok());
  REQUIRE(test.ok());
  RankerTrainerOptions options;
  options.max_epochs = 12;
  const auto scores = RankLetor(*train, *test, options, nullptr, {});
  REQUIRE(scores.ok());
  const LetorReport report = EvaluateLetor(*test, *scores);
  INFO("nDCG@1/3/5/10 " << report.ndcg1 << " " << report.ndcg3 << " " << report.ndcg5 << " "
                        << report.ndcg10);
  CHECK(report.ndcg5 > 0.6476);  // of the best of its 300 features
}

TEST_CASE("a file alone is ranked by folds, each query by a ranker that has not seen it") {
  std::ostringstream text;
  for (int q = 0; q < 40; ++q) {
    for (int i = 0; i < 5; ++i)
      text << (i == q % 5) << " qid:" << q << " 1:" << (i == q % 5 ? 2 : i * 0.1) << "\n";
  }
  const auto data = Read(text.str());
  REQUIRE(data.ok());
  RankerTrainerOptions options;
  options.lists_per_batch = 4;
  options.max_epochs = 20;
  options.patience = 20;
  const auto scores = CrossRankLetor(*data, 4, options, nullptr, {});
  REQUIRE(scores.ok());
  CHECK(EvaluateLetor(*data, *scores).ndcg1 > 0.95);
  CHECK(absl::IsInvalidArgument(CrossRankLetor(*data, 1, options, nullptr, {}).status()));
  CHECK(absl::IsInvalidArgument(CrossRankLetor(*data, 41, options, nullptr, {}).status()));
}

}  // namespace
}  // namespace waymark
