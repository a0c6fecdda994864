// Federated against central training on Amazon Beauty 5-core, users split among sites: leave-one-out figures
// of both.
//
//   federated_train SEQUENCES [--sites 4] [--rounds 20] [--central] ...
//
// SEQUENCES: a user a line, then the items in order (amazon-beauty-5core/Beauty.txt). Strict protocol as
// bench/retriever_train: models never see a user's last event, the last but one measures rounds. The sites'
// updates are summed as sites send them but for the masks (which change no digit of a sum; tests hold it);
// what the whole way over TLS gives, bench/federated.sh shows.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

#include "recommend/retriever.h"
#include "tests/support/memory_directory.h"
#include "training/evaluation/leave_one_out.h"
#include "training/federated/model/federated_defaults.h"
#include "training/federated/model/site_trainer.h"
#include "training/federated/privacy/norm_clipping.h"
#include "training/federated/rounds/update_words.h"
#include "training/retriever/retriever_trainer.h"

namespace waymark {
namespace {

Interactions ReadSequences(const std::string& file, tests::MemoryDirectory* items) {
  Interactions all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string user;
    words >> user;
    std::vector<ItemOrdinal> its;
    std::vector<int64_t> times;
    std::vector<LogOffset> offsets;
    for (std::string item; words >> item;) {
      times.push_back(1000000 * static_cast<int64_t>(its.size()));
      its.push_back(items->FindOrAdd(item));
      offsets.push_back(all.items.size() + its.size());
    }
    all.AddUser(all.users.size() + 1, its, times, offsets);
  }
  all.item_end = items->End();
  return all;
}

// Users u with u % sites == site.
Interactions Part(const Interactions& all, size_t site, size_t sites) {
  Interactions part;
  for (size_t u = site; u < all.user_count(); u += sites) {
    const uint64_t first = all.starts[u], count = all.starts[u + 1] - first;
    part.AddUser(all.users[u], all.ItemsOf(u), absl::MakeConstSpan(all.times_us).subspan(first, count),
                 absl::MakeConstSpan(all.offsets).subspan(first, count));
  }
  part.item_end = all.item_end;
  return part;
}

absl::Status PrintTest(const char* label, const ModelPackage& package, const ItemDirectory& items,
                       const Interactions& all) {
  auto retriever = Retriever::Load(package, &items);
  if (!retriever.ok()) return retriever.status();
  const size_t width = (*retriever)->width();
  std::vector<ItemOrdinal> every(all.item_end);
  std::iota(every.begin(), every.end(), 0);
  std::vector<float> vectors(every.size() * width), user(width);
  if (auto status = (*retriever)->EmbedItems(every, absl::MakeSpan(vectors)); !status.ok()) return status;
  auto tested = LeaveOneOut(all, {}, [&](const RequestContext& context, absl::Span<float> scores) {
    auto status = (*retriever)->EncodeUser(context.history, context.now, absl::MakeSpan(user));
    for (size_t i = 0; status.ok() && i < scores.size(); ++i) {
      scores[i] = std::inner_product(user.begin(), user.end(), vectors.begin() + i * width, 0.0f);
    }
    return status;
  });
  if (!tested.ok()) return tested.status();
  std::printf("%s: test HR@10 %.4f nDCG@10 %.4f (+-%.4f)\n", label, tested->metrics.hit_rate(),
              tested->metrics.ndcg(), tested->metrics.ndcg_error());
  std::fflush(stdout);
  return absl::OkStatus();
}

struct Options {
  size_t sites = 4;
  bool central = false;
  int threads = 1, every = 0;
  std::string sequences, package, rule = "fedavg";
};

absl::Status TrainFederated(const Options& options, federated::Plan plan, const Interactions& all,
                            const tests::MemoryDirectory& items, const std::filesystem::path& scratch) {
  auto layout = ExchangedLayout::Of(plan);
  if (!layout.ok()) return layout.status();
  const Interactions known = all.WithoutLast(1);
  std::vector<Interactions> parts;
  std::vector<std::unique_ptr<SiteTrainer>> sites;
  for (size_t s = 0; s < options.sites; ++s) parts.push_back(Part(known, s, options.sites));
  for (size_t s = 0; s < options.sites; ++s) {
    auto site = SiteTrainer::Make(parts[s], items, plan, {"site" + std::to_string(s), options.threads});
    if (!site.ok()) return site.status();
    sites.push_back(*std::move(site));
  }
  std::vector<float> model = InitialModel(plan, *layout);
  ServerMoments moments;
  std::vector<ItemOrdinal> every(all.item_end);
  std::iota(every.begin(), every.end(), 0);
  const auto test = [&](int round) -> absl::Status {
    FederatedPackage about;
    about.version = "round" + std::to_string(round);
    auto package =
        WriteFederatedPackage(scratch / about.version, plan, *layout, model, items.Ids(every), about);
    if (!package.ok()) return package.status();
    return PrintTest(absl::StrCat("federated, round ", round).c_str(), *package, items, all);
  };
  for (int round = 1; round <= plan.rounds(); ++round) {
    std::vector<uint64_t> words(UpdateWords(layout->total()), 0);
    std::vector<absl::StatusOr<LocalUpdate>> updates(sites.size(), absl::UnknownError("not trained"));
    std::vector<std::thread> running;  // side by side, as sites are
    for (size_t s = 0; s < sites.size(); ++s) {
      running.emplace_back([&, s] { updates[s] = sites[s]->Train(model, round, {}); });
    }
    for (std::thread& site : running) site.join();
    double norms = 0;
    for (auto& update : updates) {
      if (!update.ok()) return update.status();
      norms += L2Norm(update->moved) / static_cast<double>(sites.size());
      auto own = EncodeUpdate(plan, &*update);
      if (!own.ok()) return own.status();
      for (size_t i = 0; i < words.size(); ++i) words[i] += (*own)[i];
    }
    auto sum = DecodeSum(plan, words, sites.size());
    if (!sum.ok()) return sum.status();
    for (float& value : sum->weighted) value = static_cast<float>(value / sum->weight);
    std::printf("  round %d: loss %.4f, nDCG@10 before %.4f, norm of an update %.2f, of the mean %.2f\n",
                round, sum->loss.value_or(0), sum->ndcg10.value_or(0), norms, L2Norm(sum->weighted));
    std::fflush(stdout);
    MoveModel(plan, *layout, absl::MakeSpan(sum->weighted), &moments, absl::MakeSpan(model));
    if (round == plan.rounds() || (options.every > 0 && round % options.every == 0)) {
      if (auto status = test(round); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status RunAll(const Options& options, federated::Plan plan) {
  tests::MemoryDirectory items;
  const Interactions all = ReadSequences(options.sequences, &items);
  if (!options.package.empty()) {
    auto package = OpenModelPackage(options.package);
    if (!package.ok()) return package.status();
    return PrintTest(options.package.c_str(), *package, items, all);
  }
  const auto scratch =
      std::filesystem::temp_directory_path() / ("federated_train." + std::to_string(getpid()));
  if (options.central) {
    const Interactions known = all.WithoutLast(1);
    RetrieverOptions central = RetrieverOptionsFor(known);
    central.threads = options.threads;
    RetrieverRun run;
    run.package_folder = scratch / "central";
    run.version = "central";
    run.clock = Clock::Real();
    auto trained = TrainRetriever(known, items, central, run);
    if (!trained.ok()) return trained.status();
    std::printf("central: best epoch %d of %d, %.0f s\n", trained->best_epoch, trained->epochs,
                absl::ToDoubleSeconds(trained->elapsed));
    if (auto status = PrintTest("central", trained->package, items, all); !status.ok()) return status;
  }
  auto status = TrainFederated(options, std::move(plan), all, items, scratch);
  std::filesystem::remove_all(scratch);
  return status;
}

int Main(int argc, char** argv) {
  CLI::App app{"Federated against central training"};
  Options options;
  federated::Plan plan = DefaultPlan();
  int rounds = plan.rounds(), epochs = plan.local_epochs(), parts = plan.rounds_an_epoch(),
      buckets = plan.buckets(), hashes = plan.hashes(), tokens = plan.batch_tokens(),
      negatives = plan.negatives();
  double rate = plan.learning_rate(), server_rate = plan.server_rate(), table_factor = plan.table_factor(),
         dropout = plan.dropout();
  app.add_option("sequences", options.sequences)->required()->check(CLI::ExistingFile);
  app.add_option("--sites", options.sites);
  app.add_option("--threads", options.threads);
  app.add_option("--every", options.every, "test the model of every so many rounds");
  app.add_option("--rule", options.rule)->check(CLI::IsMember({"fedavg", "fedadam"}));
  app.add_option("--package", options.package, "only test this retriever package")
      ->check(CLI::ExistingDirectory);
  app.add_flag("--central", options.central, "train centrally too");
  app.add_option("--rounds", rounds);
  app.add_option("--local-epochs", epochs);
  app.add_option("--rounds-an-epoch", parts);
  app.add_option("--buckets", buckets);
  app.add_option("--hashes", hashes);
  app.add_option("--batch-tokens", tokens);
  app.add_option("--negatives", negatives);
  app.add_option("--learning-rate", rate);
  app.add_option("--server-rate", server_rate);
  app.add_option("--table-factor", table_factor);
  app.add_option("--dropout", dropout);
  CLI11_PARSE(app, argc, argv);
  plan.set_rounds(rounds);
  plan.set_local_epochs(epochs);
  plan.set_rounds_an_epoch(parts);
  plan.set_buckets(buckets);
  plan.set_hashes(hashes);
  plan.set_batch_tokens(tokens);
  plan.set_negatives(negatives);
  plan.set_learning_rate(rate);
  plan.set_server_rate(server_rate);
  plan.set_rule(options.rule == "fedadam" ? federated::Plan::FEDADAM : federated::Plan::FEDAVG);
  plan.set_table_factor(table_factor);
  plan.set_dropout(dropout);
  const absl::Status status = RunAll(options, plan);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace waymark

int main(int argc, char** argv) { return waymark::Main(argc, argv); }
