#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/commands/commands.h"
#include "app/data_copy.h"
#include "app/exit.h"
#include "app/json_output.h"
#include "app/option_checks.h"
#include "app/progress.h"
#include "app/stop_signal.h"
#include "app/target.h"
#include "app/text_table.h"
#include "app/training_progress.h"
#include "pipeline/engine.h"
#include "store/rows/judgments.h"
#include "store/rows/row_writer.h"
#include "training/evaluation/recommend_evaluation.h"
#include "training/evaluation/search_evaluation.h"

namespace waymark {
namespace evaluate_command {
namespace {

struct SearchOptions {
  Target target;
  std::string queries, judgments, run, release, gain = "linear";
  bool match_all = false;
};

// The folder's own engine, or one on a copy of the folder while a server has it open.
struct StudiedCollection {
  std::unique_ptr<Backend> backend;
  std::unique_ptr<DataCopy> copy;
  std::unique_ptr<Engine> engine;  // of the copy
  Collection* collection = nullptr;
};

absl::StatusOr<StudiedCollection> OpenStudied(const Target& target) {
  StudiedCollection study;
  auto backend = OpenTarget(target, Access::kRead);
  if (!backend.ok()) return backend.status();
  study.backend = *std::move(backend);
  Engine* engine = study.backend->engine();
  if (engine == nullptr) {
    auto copy = DataCopy::Make(study.backend.get(), target.data);
    if (!copy.ok()) return copy.status();
    study.copy = *std::move(copy);
    // Models are not part of a copy; they never change.
    std::error_code error;
    std::filesystem::create_directory_symlink(
        std::filesystem::absolute(std::filesystem::path(target.data) / "models"),
        study.copy->folder() / "models", error);
    auto opened = Engine::Open(study.copy->folder(), {.create = false, .keep_suggestions = false});
    if (!opened.ok()) return opened.status();
    study.engine = *std::move(opened);
    engine = study.engine.get();
  }
  auto collection = engine->OpenCollection({target.tenant, target.collection}, /*create=*/false);
  if (!collection.ok()) return collection.status();
  study.collection = *collection;
  if (auto status = study.collection->CatchUp(Deadline::Never()); !status.ok()) return status;
  return study;
}

// As trec_eval reads it: query Q0 item rank score tag.
absl::Status WriteRun(const std::string& path, const std::vector<RunLine>& run) {
  auto writer = RowWriter::Open(path);
  if (!writer.ok()) return writer.status();
  for (const RunLine& line : run) {
    auto status = (*writer)->WriteLine(
        absl::StrFormat("%s Q0 %s %d %.6f waymark", line.query_id, line.item_id, line.rank, line.score));
    if (!status.ok()) return status;
  }
  return (*writer)->Close();
}

int PrintSearch(const SearchOptions& options, const SearchEvaluation& evaluation) {
  const SearchMetrics& m = evaluation.metrics;
  const double median_ms = absl::ToDoubleMilliseconds(evaluation.median_time);
  if (options.target.json) {
    return PrintJson(nlohmann::json({{"ndcg_at_10", m.ndcg_at_10},
                                     {"map", m.map},
                                     {"mrr", m.mrr},
                                     {"precision_at_10", m.precision_at_10},
                                     {"recall_at_100", m.recall_at_100},
                                     {"queries", m.queries},
                                     {"queries_without_relevant", m.queries_without_relevant},
                                     {"queries_without_judgments", evaluation.queries_without_judgements},
                                     {"judged_without_query", evaluation.judged_without_query},
                                     {"gain", options.gain},
                                     {"median_ms", median_ms}})
                         .dump(2));
  }
  std::printf("nDCG@10  %.4f\nMAP      %.4f\nMRR      %.4f\nP@10     %.4f\nR@100    %.4f\n", m.ndcg_at_10,
              m.map, m.mrr, m.precision_at_10, m.recall_at_100);
  std::printf("over %lld queries (%s gain); median %.2f ms\n", static_cast<long long>(m.queries),
              options.gain.c_str(), median_ms);
  if (m.queries_without_relevant > 0) {
    std::printf("%lld judged queries have nothing relevant and are left out\n",
                static_cast<long long>(m.queries_without_relevant));
  }
  if (evaluation.judged_without_query > 0) {
    std::printf("%zu judged queries are not in the query file and count as having found nothing\n",
                evaluation.judged_without_query);
  }
  if (evaluation.queries_without_judgements > 0) {
    std::printf("%zu queries have no judgments and were not asked\n", evaluation.queries_without_judgements);
  }
  return kDone;
}

int RunSearchEvaluation(const SearchOptions& options) {
  auto queries = ReadQueries(options.queries);
  if (!queries.ok()) return Fail(queries.status());
  auto judged = ReadJudgments(options.judgments);
  if (!judged.ok()) return Fail(judged.status());
  auto study = OpenStudied(options.target);
  if (!study.ok()) return Fail(study.status());
  StopSignal stop;
  Progress progress("evaluate search");
  SearchEvaluationOptions evaluate;
  evaluate.gain = options.gain == "exponential" ? Gain::kExponential : Gain::kLinear;
  evaluate.match_all = options.match_all;
  evaluate.release = options.release;
  evaluate.progress = [&](size_t done, size_t all) {
    progress.Update({.done = static_cast<int64_t>(done),
                     .unit = "queries",
                     .fraction = all == 0 ? 1 : static_cast<double>(done) / all,
                     .note = {}});
    return !stop.Requested();
  };
  std::vector<std::pair<std::string, std::string>> asked;
  for (JudgedQuery& query : *queries) asked.emplace_back(std::move(query.id), std::move(query.text));
  Judgements judgements(judged->begin(), judged->end());
  auto evaluation = EvaluateSearchOn(study->collection, asked, judgements, evaluate);
  progress.Finish();
  if (!evaluation.ok()) return Fail(evaluation.status());
  if (!options.run.empty()) {
    if (auto status = WriteRun(options.run, evaluation->run); !status.ok()) return Fail(status);
  }
  return PrintSearch(options, *evaluation);
}

struct FeedOptions {
  Target target;
  std::string protocol = "leave-one-out", repeats = "mask";
  size_t k = 10, max_decisions = 50000;
  double test_share = 0.1;
  uint64_t seed = 1;
  int threads = 0;
};

int PrintFeed(const FeedOptions& options, const RecommendEvaluation& evaluation) {
  if (options.target.json) {
    nlohmann::json document = {{"protocol", options.protocol},
                               {"repeats", options.repeats},
                               {"k", options.k},
                               {"decisions", evaluation.decisions},
                               {"catalogue", evaluation.catalogue},
                               {"rows", nlohmann::json::array()}};
    for (const RecommendRow& row : evaluation.rows) {
      document["rows"].push_back({{"name", row.name},
                                  {"hit_rate", row.metrics.hit_rate()},
                                  {"hit_rate_error", row.metrics.hit_rate_error()},
                                  {"ndcg", row.metrics.ndcg()},
                                  {"ndcg_error", row.metrics.ndcg_error()},
                                  {"coverage", row.metrics.coverage()},
                                  {"novelty_bits", row.metrics.novelty()}});
    }
    return PrintJson(document.dump(2));
  }
  const std::string k = absl::StrCat("@", options.k);
  TextTable table({{"ranked by", TextTable::kWhole},
                   {"HR" + k, TextTable::kRight},
                   {"nDCG" + k, TextTable::kRight},
                   {"+-", TextTable::kRight},
                   {"coverage", TextTable::kRight},
                   {"novelty", TextTable::kRight}});
  for (const RecommendRow& row : evaluation.rows) {
    const RecommendMetrics& m = row.metrics;
    table.Add({row.name, absl::StrFormat("%.4f", m.hit_rate()), absl::StrFormat("%.4f", m.ndcg()),
               absl::StrFormat("%.4f", m.ndcg_error()), absl::StrFormat("%.3f", m.coverage()),
               absl::StrFormat("%.2f", m.novelty())});
  }
  std::fputs(table.Render(TerminalWidth()).c_str(), stdout);
  std::printf("%s, %s decisions, each ranks all %s items\n", options.protocol.c_str(),
              WithThousands(evaluation.decisions).c_str(), WithThousands(evaluation.catalogue).c_str());
  return kDone;
}

int RunFeedEvaluation(const FeedOptions& options) {
  if (options.target.data.empty()) return FailUsage("evaluation reads the data folder: say --data DIR");
  auto backend = OpenTarget(options.target, Access::kRead);
  if (!backend.ok()) return Fail(backend.status());
  auto data =
      CopyCollection(backend->get(), options.target.data, {options.target.tenant, options.target.collection});
  if (!data.ok()) return Fail(data.status());
  RecommendEvaluationOptions evaluate;
  evaluate.protocol =
      options.protocol == "time-split" ? EvaluationProtocol::kTimeSplit : EvaluationProtocol::kLeaveOneOut;
  evaluate.repeats = options.repeats == "allow" ? Repeats::kAllow : Repeats::kMask;
  evaluate.k = options.k;
  evaluate.test_share = options.test_share;
  evaluate.max_decisions = options.max_decisions;
  evaluate.work_folder = data->copy->folder() / "evaluation";  // goes away with the copy
  evaluate.seed = options.seed;
  evaluate.threads =
      options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::error_code error;
  std::filesystem::create_directories(evaluate.work_folder, error);
  StopBySignal stop;
  TrainingProgress progress;
  auto evaluation = EvaluateRecommend(
      {data->store.get(), data->scope, data->catalog.get(), data->index.get()}, evaluate,
      [&progress](const TrainProgress& state) { progress.Update(state); }, stop.token());
  Progress::ClearLine();
  if (!evaluation.ok()) return Fail(evaluation.status());
  return PrintFeed(options, *evaluation);
}

void AddSearchEvaluation(CLI::App* group, Run* run) {
  CLI::App* command = AddCommand(
      group, "search", "Judged queries through the whole pipeline",
      "  waymark evaluate search --data DIR --queries queries.tsv --judgments qrels --run out.trec");
  auto options = std::make_shared<SearchOptions>();
  AddTargetOptions(command, &options->target);
  command->add_option("--queries", options->queries, "lines of id<TAB>text")->required()->type_name("FILE");
  command->add_option("--judgments", options->judgments, "TREC: query 0 item grade")
      ->required()
      ->type_name("FILE");
  command->add_option("--run", options->run, "write what came back, as trec_eval reads it")
      ->type_name("FILE");
  command->add_option("--gain", options->gain, "linear (grade) or exponential (2^grade - 1)")
      ->check(CLI::IsMember({"linear", "exponential"}))
      ->capture_default_str();
  command->add_option("--release", options->release, "with this release")->type_name("ID");
  command->add_flag("--all-words", options->match_all, "every word must match");
  command->callback([=] { *run = [options] { return RunSearchEvaluation(*options); }; });
}

void AddFeedEvaluation(CLI::App* group, Run* run) {
  CLI::App* command = AddCommand(group, "recommend", "Trains on the past and asks for what came next",
                                 "  waymark evaluate recommend --data DIR --protocol leave-one-out");
  auto options = std::make_shared<FeedOptions>();
  AddTargetOptions(command, &options->target);
  command->add_option("--protocol", options->protocol, "leave-one-out or time-split")
      ->check(CLI::IsMember({"leave-one-out", "time-split"}))
      ->capture_default_str();
  command
      ->add_option("--repeats", options->repeats,
                   "mask: what the user had is out of the ranking; allow: it is in")
      ->check(CLI::IsMember({"mask", "allow"}))
      ->capture_default_str();
  command->add_option("--k", options->k, "length of the list")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--test-share", options->test_share, "of time-split: the newest share of the log")
      ->check(CLI::Range(0.001, 0.9))
      ->capture_default_str();
  command->add_option("--max-decisions", options->max_decisions, "asked, evenly spaced")
      ->check(OverZero())
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the training")->capture_default_str();
  command->add_option("--threads", options->threads, "0: every core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->callback([=] { *run = [options] { return RunFeedEvaluation(*options); }; });
}

}  // namespace
}  // namespace evaluate_command

void AddEvaluate(CLI::App* app, Run* run) {
  using namespace evaluate_command;
  CLI::App* group = AddCommandGroup(app, "evaluate", "Measure searches and feeds on judged or held-out data",
                                    "  waymark evaluate recommend --data DIR --protocol leave-one-out");
  AddSearchEvaluation(group, run);
  AddFeedEvaluation(group, run);
  AddRankerEvaluation(group, run);
}

}  // namespace waymark
