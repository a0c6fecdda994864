#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/str_format.h"
#include "app/commands/commands.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/training_progress.h"
#include "training/ranker/letor_ranking.h"

namespace waymark {
namespace evaluate_ranker_command {
namespace {

struct Options {
  std::string train, test;
  size_t folds = 5;
  uint64_t seed = 1;
  int threads = 0;
  bool json = false;
};

int Print(const Options& options, const LetorReport& report) {
  if (options.json) {
    return PrintJson(nlohmann::json({{"ndcg_at_1", report.ndcg1},
                                     {"ndcg_at_3", report.ndcg3},
                                     {"ndcg_at_5", report.ndcg5},
                                     {"ndcg_at_10", report.ndcg10},
                                     {"queries", report.queries},
                                     {"queries_without_relevant", report.queries_without_relevant}})
                         .dump(2));
  }
  std::printf(
      "nDCG@1   %.4f\nnDCG@3   %.4f\nnDCG@5   %.4f\nnDCG@10  %.4f\nover %zu queries, gain 2^grade - 1\n",
      report.ndcg1, report.ndcg3, report.ndcg5, report.ndcg10, report.queries);
  if (report.queries_without_relevant > 0) {
    std::printf("%zu queries have nothing relevant and are left out\n", report.queries_without_relevant);
  }
  return kDone;
}

int RunRankerEvaluation(const Options& options) {
  auto train = ReadLetor(options.train);
  if (!train.ok()) return Fail(train.status());
  LetorData test;
  if (!options.test.empty()) {
    auto read = ReadLetor(options.test);
    if (!read.ok()) return Fail(read.status());
    test = *std::move(read);
  }
  RankerTrainerOptions trainer;
  trainer.seed = options.seed;
  trainer.threads = options.threads > 0 ? options.threads
                                        : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  StopBySignal stop;
  TrainingProgress progress;
  auto show = [&progress](const RankerProgress& state) {
    progress.Update(
        {.stage = absl::StrFormat("epoch %d of %d", state.epoch, state.max_epochs),
         .done = state.epoch_lists == 0 ? 1 : static_cast<double>(state.lists) / state.epoch_lists,
         .detail = absl::StrFormat("loss %.4f, validation nDCG %.4f", state.loss, state.validation_ndcg),
         .stage_done = state.epoch_done});
  };
  auto scores = options.test.empty() ? CrossRankLetor(*train, options.folds, trainer, show, stop.token())
                                     : RankLetor(*train, test, trainer, show, stop.token());
  if (!scores.ok()) return Fail(scores.status());
  return Print(options, EvaluateLetor(options.test.empty() ? *train : test, *scores));
}

}  // namespace
}  // namespace evaluate_ranker_command

void AddRankerEvaluation(CLI::App* group, Run* run) {
  using namespace evaluate_ranker_command;
  CLI::App* command = AddCommand(group, "ranker", "The ranking network on learning-to-rank files",
                                 "  waymark evaluate ranker --letor rank.train --test rank.test");
  auto options = std::make_shared<Options>();
  command
      ->add_option("--letor", options->train, "LibSVM lines with qid:N, or with FILE.query beside the file")
      ->required()
      ->type_name("FILE");
  command->add_option("--test", options->test, "score this file; without it the first one is cross-validated")
      ->type_name("FILE");
  command->add_option("--folds", options->folds, "of the cross-validation")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "the same seed gives the same weights")->capture_default_str();
  command->add_option("--threads", options->threads, "0: every core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print one JSON document");
  command->callback([=] { *run = [options] { return RunRankerEvaluation(*options); }; });
}

}  // namespace waymark
