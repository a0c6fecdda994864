// Trains a retriever on a file of events and prints its leave-one-out figures: what the numbers for the
// retriever in docs/benchmarks come from.
//
//   retriever_train EVENTS.tsv [--items ITEMS.tsv] [--threads N] [--seeds N] ...
//
// EVENTS: user<TAB>item<TAB>epoch seconds, one event a line, sorted stably by time (ties: order of lines).
// ITEMS: item<TAB>words and categories separated by spaces. Strict protocol: the model is trained without
// each user's last two events, stopped on the second last, tested on the last with the second last in the
// history; the whole catalogue is ranked, items of the history are masked, ties get the middle rank.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "recommend/retriever.h"
#include "tests/support/memory_directory.h"
#include "training/evaluation/leave_one_out.h"
#include "training/retriever/retriever_trainer.h"

namespace waymark {
namespace {

uint64_t HashWord(const std::string& word) {
  uint64_t hash = 1469598103934665603ull;  // FNV-1a
  for (unsigned char c : word) hash = (hash ^ c) * 1099511628211ull;
  return hash;
}

void ReadContent(const std::string& file, tests::MemoryDirectory* items) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) continue;
    std::vector<uint64_t> content;
    std::istringstream words(line.substr(tab + 1));
    for (std::string word; words >> word;) content.push_back(HashWord(word));
    items->SetContent(items->FindOrAdd(line.substr(0, tab)), std::move(content));
  }
}

Interactions ReadEvents(const std::string& file, tests::MemoryDirectory* items) {
  struct Event {
    ItemOrdinal item;
    int64_t time_us;
    LogOffset offset;
  };
  std::map<std::string, std::vector<Event>> by_user;
  std::ifstream in(file);
  std::string user, item;
  double time = 0;
  LogOffset offset = 0;
  while (in >> user >> item >> time) {
    by_user[user].push_back({items->FindOrAdd(item), static_cast<int64_t>(time * 1e6), ++offset});
  }
  Interactions all;
  for (auto& [name, events] : by_user) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time_us < b.time_us; });
    std::vector<ItemOrdinal> its;
    std::vector<int64_t> times;
    std::vector<LogOffset> offsets;
    for (const Event& e : events) {
      its.push_back(e.item);
      times.push_back(e.time_us);
      offsets.push_back(e.offset);
    }
    all.AddUser(all.users.size() + 1, its, times, offsets);
  }
  all.item_end = items->End();
  return all;
}

// Scores the catalogue as it is served.
absl::StatusOr<CatalogueScorer> ScorerOfRetriever(const Retriever& retriever, size_t items) {
  const size_t width = retriever.width();
  std::vector<ItemOrdinal> every(items);
  std::iota(every.begin(), every.end(), 0);
  auto vectors = std::make_shared<std::vector<float>>(items * width);
  if (absl::Status s = retriever.EmbedItems(every, absl::MakeSpan(*vectors)); !s.ok()) return s;
  return [&retriever, vectors, width](const RequestContext& context, absl::Span<float> scores) {
    std::vector<float> user(width);
    if (absl::Status s = retriever.EncodeUser(context.history, context.now, absl::MakeSpan(user)); !s.ok())
      return s;
    for (size_t i = 0; i < scores.size(); ++i) {
      scores[i] = std::inner_product(user.begin(), user.end(), vectors->begin() + i * width, 0.0f);
    }
    return absl::OkStatus();
  };
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Of one EncodeUser with the newest `events` of a long history; the median of many.
double EncodeMilliseconds(const Retriever& retriever, const Interactions& all, size_t events) {
  std::vector<HistoryEvent> history(events);
  for (size_t i = 0; i < events; ++i) {
    history[i].item = all.items[i % all.items.size()];
    history[i].time = absl::FromUnixSeconds(1000000 + 60 * static_cast<int64_t>(i));
  }
  std::vector<float> out(retriever.width());
  std::vector<double> times;
  for (int i = 0; i < 300; ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (!retriever.EncodeUser(history, absl::UnixEpoch(), absl::MakeSpan(out)).ok()) return -1;
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 150, times.end());
  return times[150];
}

int Main(int argc, char** argv) {
  CLI::App app{"Trains a retriever and prints its leave-one-out figures"};
  std::string events_file, items_file;
  int seeds = 1;
  bool refit = false;
  RetrieverOptions given;
  app.add_option("events", events_file, "user, item, epoch seconds; tab-separated")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--items", items_file, "item, content words; tab-separated")->check(CLI::ExistingFile);
  app.add_option("--seeds", seeds, "train with seeds 1..N");
  app.add_flag("--refit", refit, "also train on all but the last event: anew, and from the strict model");
  auto* threads = app.add_option("--threads", given.threads);
  auto* epochs = app.add_option("--epochs", given.epochs);
  auto* patience = app.add_option("--patience", given.patience);
  auto* rate = app.add_option("--learning-rate", given.learning_rate);
  auto* tokens = app.add_option("--batch-tokens", given.batch_tokens);
  auto* shards = app.add_option("--shards", given.shards);
  auto* dropout = app.add_option("--dropout", given.dropout);
  auto* id_dropout = app.add_option("--id-dropout", given.id_dropout);
  auto* negatives = app.add_option("--negatives", given.negatives);
  auto* temperature = app.add_option("--temperature", given.shape.temperature);
  auto* limit = app.add_option("--history", given.shape.history_limit);
  auto* blocks = app.add_option("--blocks", given.shape.blocks);
  auto* width = app.add_option("--width", given.shape.width);
  auto* heads = app.add_option("--heads", given.shape.heads);
  auto* hidden = app.add_option("--hidden", given.shape.hidden);
  auto* buckets = app.add_option("--time-buckets", given.shape.time_buckets);
  CLI11_PARSE(app, argc, argv);

  tests::MemoryDirectory items;
  const Interactions all = ReadEvents(events_file, &items);
  if (!items_file.empty()) ReadContent(items_file, &items);
  const Interactions without_test = all.WithoutLast(1);
  RetrieverOptions options = RetrieverOptionsFor(without_test);
  const auto take = [](CLI::Option* option, auto& to, const auto& from) {
    if (option->count() > 0) to = from;
  };
  take(threads, options.threads, given.threads);
  take(epochs, options.epochs, given.epochs);
  take(patience, options.patience, given.patience);
  take(rate, options.learning_rate, given.learning_rate);
  take(tokens, options.batch_tokens, given.batch_tokens);
  take(shards, options.shards, given.shards);
  take(dropout, options.dropout, given.dropout);
  take(id_dropout, options.id_dropout, given.id_dropout);
  take(negatives, options.negatives, given.negatives);
  take(temperature, options.shape.temperature, given.shape.temperature);
  take(limit, options.shape.history_limit, given.shape.history_limit);
  take(blocks, options.shape.blocks, given.shape.blocks);
  take(width, options.shape.width, given.shape.width);
  take(heads, options.shape.heads, given.shape.heads);
  take(hidden, options.shape.hidden, given.shape.hidden);
  take(buckets, options.shape.time_buckets, given.shape.time_buckets);
  std::printf("%zu users, %u items, %zu events\n", all.user_count(), all.item_end, all.items.size());

  const std::filesystem::path scratch =
      std::filesystem::temp_directory_path() / ("retriever_train." + std::to_string(getpid()));
  const auto train = [&](const char* label, const Interactions& events, const RetrieverOptions& with,
                         const ModelPackage* from) -> absl::StatusOr<RetrieverResult> {
    RetrieverRun run;
    run.package_folder = scratch / (std::string(label) + std::to_string(with.seed));
    run.version = "bench";
    run.clock = Clock::Real();
    run.init_from = from;
    run.progress = [&](const RetrieverProgress& p) {
      if (!p.epoch_finished) return;
      std::printf("  epoch %d/%d loss %.4f validation nDCG@10 %.4f %.0f events/s, %.0f s left\n", p.epoch,
                  p.epochs, p.loss, p.validation_ndcg10, p.events_per_second,
                  absl::ToDoubleSeconds(p.time_left));
      std::fflush(stdout);
    };
    const double cpu = CpuSeconds();
    absl::StatusOr<RetrieverResult> result = TrainRetriever(events, items, with, run);
    if (!result.ok()) return result.status();
    absl::StatusOr<std::unique_ptr<Retriever>> retriever = Retriever::Load(result->package, &items);
    if (!retriever.ok()) return retriever.status();
    const double trained = CpuSeconds() - cpu;
    absl::StatusOr<CatalogueScorer> scorer = ScorerOfRetriever(**retriever, all.item_end);
    if (!scorer.ok()) return scorer.status();
    absl::StatusOr<LeaveOneOutResult> tested = LeaveOneOut(all, {}, *scorer);
    if (!tested.ok()) return tested.status();
    const RecommendMetrics& test = tested->metrics;
    std::printf(
        "%s seed %lu: best epoch %d, validation nDCG@10 %.4f, test HR@10 %.4f nDCG@10 %.4f (+-%.4f); %.1f s, "
        "%.1f CPU "
        "s; EncodeUser(50) %.3f ms\n",
        label, with.seed, result->best_epoch, result->validation_ndcg10, test.hit_rate(), test.ndcg(),
        test.ndcg_error(), absl::ToDoubleSeconds(result->elapsed), trained,
        EncodeMilliseconds(**retriever, all, 50));
    std::fflush(stdout);
    return result;
  };
  for (int seed = 1; seed <= seeds; ++seed) {
    options.seed = seed;
    absl::StatusOr<RetrieverResult> strict = train("strict", without_test, options, nullptr);
    if (!strict.ok()) {
      std::fprintf(stderr, "%s\n", strict.status().ToString().c_str());
      return 1;
    }
    if (refit) {
      RetrieverOptions with = options;
      with.held_out = 0;
      with.epochs = strict->best_epoch;
      if (!train("anew", without_test, with, nullptr).ok()) return 1;
      with.epochs = std::max(1, strict->best_epoch / 4);
      with.learning_rate *= 0.3;
      if (!train("warm", without_test, with, &strict->package).ok()) return 1;
    }
  }
  std::filesystem::remove_all(scratch);
  return 0;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
