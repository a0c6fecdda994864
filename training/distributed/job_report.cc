#include "training/distributed/job_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace waymark {
namespace {

constexpr double kPays = 1.3, kFasterAtAll = 1.1;
constexpr double kBusy = 0.8;          // of a core: less is worth a line
constexpr double kMoreToExchange = 2;  // twice the ranks: between 1.5 (bytes of two ranks) and 3 (rounds)

// Threads of a rank with parts to work on.
double BusyThreads(const JobResult& result, int ranks) {
  return std::max(1, std::min(result.threads, result.parts / ranks));
}

// What the steps were, in seconds.
struct Work {
  double divided = 0;  // CPU, of all ranks together
  double own = 0;      // CPU, of one rank
  double wait = 0, communication = 0;
  double share = 1;               // of the cores' time that the threads had
  double threads = 1, cores = 0;  // of the machine; 0: not known
  double others = 0;              // threads of other programs that would explain the share

  // Of a core, for each of so many threads on that machine, by a scheduler that treats all threads alike.
  double ShareOf(double own_threads) const {
    return cores > 0 ? std::min(1.0, cores / (own_threads + others)) : share;
  }
  // How long so many threads take where `crowd` of them are on a machine.
  double On(double all_threads, double crowd) const {
    return (divided / all_threads + own) / ShareOf(crowd) + wait;
  }
  // Threads on the machine if none of them shared a core with another.
  double Uncrowded() const { return cores > 0 ? std::min(threads, cores) : threads; }
};

Work WorkOf(const JobResult& result) {
  Work work;
  const double ranks = static_cast<double>(result.times.size());
  double all = 0;
  for (const StepTimes& t : result.times) {
    work.divided += t.divided_cpu;
    work.own += t.own_cpu / ranks;
    work.wait += t.wait / ranks;
    work.communication += t.communication / ranks;
    all += t.All() / ranks;
  }
  const double on_cores = work.divided / ranks / BusyThreads(result, result.ranks) + work.own,
               took = all - work.wait - work.communication;
  if (on_cores > 0 && took > 0) work.share = std::min(1.0, on_cores / took);
  work.threads = result.machine_threads;
  work.cores = result.machine_cores;
  work.others = std::max(0.0, work.cores / work.share - work.threads);
  return work;
}

double CostOf(double seconds, double processes, double price) { return seconds / 3600 * processes * price; }

std::string AdviceOf(const JobResult& result, const JobEstimate& e) {
  const int ranks = result.ranks;
  if (result.steps == 0) return "no step was left to make: there is nothing to compare";
  const std::string here =
      absl::StrFormat("%d threads have %d cores", result.machine_threads, result.machine_cores);
  if (ranks > 1 && e.speed_up < kFasterAtAll) {
    return absl::StrCat(
        absl::StrFormat("distribution does not pay for this job: one process would take "
                        "about %.1f s in steps, %d ranks took %.1f s, %.0f%% of it in communication",
                        e.one_process_seconds, ranks, e.seconds, 100 * e.communication_share),
        result.machine_threads > result.machine_cores && result.machine_cores > 0 ? absl::StrCat("; ", here)
                                                                                  : "");
  }
  const std::string twice = absl::StrFormat(
      "%d ranks on cores of their own would take about %.1f s in steps and %d about %.1f s, %s", 2 * ranks,
      e.twice_the_ranks_seconds, ranks, e.uncrowded_seconds,
      ranks == 1 ? "communication not counted: a run on 2 with --max-steps measures it"
                 : "if communication doubles");
  if (e.uncrowded_seconds / e.twice_the_ranks_seconds < kPays) {
    return absl::StrCat("more ranks do not pay: ", twice);
  }
  if (e.more_pays) return absl::StrCat("more ranks may pay: ", twice);
  return absl::StrCat("more ranks do not pay on this machine, where ", here, "; elsewhere ", twice);
}

}  // namespace

JobEstimate EstimateOf(const JobResult& result) {
  JobEstimate e;
  const Work work = WorkOf(result);
  const int ranks = std::max(result.ranks, 1);
  for (const StepTimes& t : result.times) e.seconds += t.All() / ranks;
  e.seconds = std::max(e.seconds, 1e-9);
  e.communication_share = work.communication / e.seconds;
  e.wait_share = work.wait / e.seconds;
  e.core_share = work.share;
  const double alone = BusyThreads(result, 1);
  e.one_process_seconds = ranks == 1 ? e.seconds : work.On(alone, alone);
  e.speed_up = e.one_process_seconds / e.seconds;
  e.efficiency = e.speed_up / ranks;
  e.uncrowded_seconds = work.On(ranks * BusyThreads(result, ranks), work.Uncrowded()) + work.communication;
  e.twice_the_ranks_seconds = work.On(2 * ranks * BusyThreads(result, 2 * ranks), work.Uncrowded()) +
                              kMoreToExchange * work.communication;
  e.twice_the_ranks_seconds = std::max(e.twice_the_ranks_seconds, 1e-9);
  const bool cores = result.machine_cores == 0 || 2 * result.machine_threads <= result.machine_cores;
  e.more_pays = cores && e.speed_up >= (ranks == 1 ? 0 : kFasterAtAll) &&
                e.uncrowded_seconds / e.twice_the_ranks_seconds >= kPays;
  e.advice = AdviceOf(result, e);
  return e;
}

std::string ReportText(const JobResult& r, std::optional<double> price) {
  const JobEstimate e = EstimateOf(r);
  std::string text =
      absl::StrFormat("%d %s (%s, %s), %d parts a batch, %s: %d steps, %.0f %s/s\n", r.ranks,
                      r.ranks == 1 ? "process" : "ranks", r.launcher, r.backend, r.parts, r.precision,
                      r.steps, static_cast<double>(r.tokens) / std::max(r.train_seconds, 1e-9), r.unit);
  if (r.vocabulary) {
    absl::StrAppend(&text, "  item table: ", r.vocabulary->used, " of its ", r.vocabulary->rows,
                    " rows have one of the ", r.vocabulary->items, " items; ", r.vocabulary->admitted,
                    " were admitted, ", r.vocabulary->evicted, " evicted\n");
  }
  if (r.erased_users >= 0) absl::StrAppend(&text, "  erased since: ", r.erased_users, " users\n");
  StepTimes sum;
  for (const StepTimes& t : r.times) sum.Add(t);
  const double all = std::max(sum.All(), 1e-9) / 100;
  absl::StrAppendFormat(&text,
                        "  step time: waiting for data %.1f%%, data %.1f%%, forward %.1f%%, backward %.1f%%, "
                        "communication %.1f%%, optimizer %.1f%%\n",
                        sum.wait / all, sum.data / all, sum.forward / all, sum.backward / all,
                        sum.communication / all, sum.optimizer / all);
  if (!r.mesh.empty()) {
    absl::StrAppendFormat(&text,
                          "  mesh %s, communication %.0f%%: what one process would take is not estimated\n",
                          r.mesh, 100 * e.communication_share);
  } else if (r.ranks > 1 && r.steps > 0) {
    absl::StrAppendFormat(&text, "  estimated against one process: %.2f times as fast, efficiency %.0f%%\n",
                          e.speed_up, 100 * e.efficiency);
  }
  if (e.core_share < kBusy) {
    absl::StrAppendFormat(&text,
                          "  the threads had %.0f%% of a core each, %d of them on a machine of %d cores\n",
                          100 * e.core_share, r.machine_threads, r.machine_cores);
  }
  if (r.mesh.empty()) absl::StrAppend(&text, "  ", e.advice, "\n");
  if (price) {
    absl::StrAppendFormat(&text, "  cost of the steps at %.4g a process-hour: %.4g", *price,
                          CostOf(e.seconds, r.ranks, *price));
    if (r.mesh.empty()) {
      absl::StrAppendFormat(&text, ", on one process about %.4g", CostOf(e.one_process_seconds, 1, *price));
    }
    text += "\n";
  }
  return text;
}

std::string ReportJson(const JobResult& r, std::optional<double> price) {
  const JobEstimate e = EstimateOf(r);
  nlohmann::json times = nlohmann::json::array();
  for (const StepTimes& t : r.times) {
    times.push_back({{"wait_s", t.wait},
                     {"data_s", t.data},
                     {"forward_s", t.forward},
                     {"backward_s", t.backward},
                     {"communication_s", t.communication},
                     {"optimizer_s", t.optimizer},
                     {"divided_cpu_s", t.divided_cpu},
                     {"own_cpu_s", t.own_cpu}});
  }
  nlohmann::json json = {
      {"ranks", r.ranks},
      {"launcher", r.launcher},
      {"backend", r.backend},
      {"parts", r.parts},
      {"precision", r.precision},
      {"threads", r.threads},
      {"machine_threads", r.machine_threads},
      {"machine_cores", r.machine_cores},
      {"steps", r.steps},
      {r.unit, r.tokens},
      {absl::StrCat(r.unit, "_per_second"), static_cast<double>(r.tokens) / std::max(r.train_seconds, 1e-9)},
      {"epochs", r.epochs},
      {"best_epoch", r.best_epoch},
      {"validation_ndcg10", r.validation_ndcg10},
      {"epoch_losses", r.epoch_losses},
      {"epoch_ndcg10", r.epoch_ndcg10},
      {"train_seconds", r.train_seconds},
      {"validation_seconds", r.validation_seconds},
      {"checkpoint_seconds", r.checkpoint_seconds},
      {"checkpoints", r.checkpoints},
      {"failed_checkpoints", r.failed_checkpoints},
      {"resumed", r.resumed},
      {"stopped_early", r.stopped_early},
      {"bytes_exchanged", r.bytes_exchanged},
      {"bytes_read", r.bytes_read},
      {"item_table_bytes", r.table_bytes},
      {"tables_bytes", r.all_table_bytes},
      {"package_sha256", r.package_sha256},
      {"step_times", times}};
  // Of a model that several ranks hold together it says nothing: they do some of the work each, some alike.
  if (r.mesh.empty()) {
    json["estimate"] = {{"one_process_seconds", e.one_process_seconds},
                        {"speed_up", e.speed_up},
                        {"efficiency", e.efficiency},
                        {"communication_share", e.communication_share},
                        {"wait_share", e.wait_share},
                        {"uncrowded_seconds", e.uncrowded_seconds},
                        {"core_share", e.core_share},
                        {"twice_the_ranks_seconds", e.twice_the_ranks_seconds},
                        {"more_ranks_pay", e.more_pays},
                        {"advice", e.advice}};
  } else {
    json["mesh"] = r.mesh;
    json["communication_share"] = e.communication_share;
  }
  if (r.vocabulary) {
    json["vocabulary"] = {{"items", r.vocabulary->items},
                          {"rows", r.vocabulary->rows},
                          {"used", r.vocabulary->used},
                          {"admitted", r.vocabulary->admitted},
                          {"evicted", r.vocabulary->evicted}};
  }
  if (r.erased_users >= 0) json["erased_users"] = r.erased_users;
  if (r.validation_hit10 >= 0) json["validation_hit10"] = r.validation_hit10;
  if (price) {
    json["cost"] = {{"price", *price}, {"distributed", CostOf(e.seconds, r.ranks, *price)}};
    if (r.mesh.empty()) json["cost"]["one_process"] = CostOf(e.one_process_seconds, 1, *price);
  }
  return json.dump(2) + "\n";
}

}  // namespace waymark
