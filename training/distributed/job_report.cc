#include "training/distributed/job_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace waymark {
namespace {

constexpr double kPays = 1.3;

struct MeanTimes {
  double divided = 0;  // forward and backward, of all ranks together
  double fixed = 0;    // of one rank: data, optimizer, wait
  double communication = 0;
};

MeanTimes MeanOf(const JobResult& result) {
  MeanTimes mean;
  for (const StepTimes& t : result.times) {
    mean.divided += t.forward + t.backward;
    mean.fixed += (t.data + t.optimizer + t.wait) / static_cast<double>(result.times.size());
    mean.communication += t.communication / static_cast<double>(result.times.size());
  }
  return mean;
}

double CostOf(double seconds, double processes, double price) { return seconds / 3600 * processes * price; }

}  // namespace

JobEstimate EstimateOf(const JobResult& result) {
  JobEstimate e;
  const MeanTimes mean = MeanOf(result);
  const double ranks = std::max(result.ranks, 1);
  e.seconds = std::max(mean.divided / ranks + mean.fixed + mean.communication, 1e-9);
  e.one_process_seconds = mean.divided + mean.fixed;
  e.speed_up = e.one_process_seconds / e.seconds;
  e.efficiency = e.speed_up / ranks;
  e.communication_share = mean.communication / e.seconds;
  double wait = 0;
  for (const StepTimes& t : result.times) wait += t.wait / ranks;
  e.wait_share = wait / e.seconds;
  // One process has not measured what an exchange costs.
  e.twice_the_ranks_seconds = mean.divided / (2 * ranks) + mean.fixed + mean.communication;
  e.more_pays = e.seconds / e.twice_the_ranks_seconds >= kPays;
  const std::string twice =
      absl::StrFormat("%.0f ranks would take about %.1f s in steps, and %.0f %s %.1f s", 2 * ranks,
                      e.twice_the_ranks_seconds, ranks, ranks == 1 ? "takes" : "take", e.seconds);
  if (result.ranks > 1 && e.speed_up < 1.1) {
    e.advice = absl::StrFormat(
        "distribution does not pay for this job: one process would take about %.1f s in steps, "
        "%.0f ranks took %.1f s, %.0f%% of it in communication",
        e.one_process_seconds, ranks, e.seconds, 100 * e.communication_share);
  } else if (e.more_pays) {
    e.advice =
        absl::StrCat("more ranks may pay: ", twice, result.ranks == 1 ? ", communication not counted" : "");
  } else {
    e.advice = absl::StrCat("more ranks do not pay: ", twice);
  }
  return e;
}

std::string ReportText(const JobResult& r, std::optional<double> price) {
  const JobEstimate e = EstimateOf(r);
  std::string text =
      absl::StrFormat("%d %s (%s, %s), %d parts a batch: %d steps, %.0f events/s\n", r.ranks,
                      r.ranks == 1 ? "process" : "ranks", r.launcher, r.backend, r.parts, r.steps,
                      static_cast<double>(r.tokens) / std::max(r.train_seconds, 1e-9));
  StepTimes sum;
  for (const StepTimes& t : r.times) sum.Add(t);
  const double all = std::max(sum.All(), 1e-9) / 100;
  absl::StrAppendFormat(&text,
                        "  step time: waiting for data %.1f%%, data %.1f%%, forward %.1f%%, backward %.1f%%, "
                        "communication %.1f%%, optimizer %.1f%%\n",
                        sum.wait / all, sum.data / all, sum.forward / all, sum.backward / all,
                        sum.communication / all, sum.optimizer / all);
  if (r.ranks > 1) {
    absl::StrAppendFormat(&text, "  estimated against one process: %.2f times as fast, efficiency %.0f%%\n",
                          e.speed_up, 100 * e.efficiency);
  }
  absl::StrAppend(&text, "  ", e.advice, "\n");
  if (price) {
    absl::StrAppendFormat(&text, "  cost at %.4g a process-hour: %.4g, on one process about %.4g\n", *price,
                          CostOf(e.seconds, r.ranks, *price), CostOf(e.one_process_seconds, 1, *price));
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
                     {"optimizer_s", t.optimizer}});
  }
  nlohmann::json json = {
      {"ranks", r.ranks},
      {"launcher", r.launcher},
      {"backend", r.backend},
      {"parts", r.parts},
      {"steps", r.steps},
      {"events", r.tokens},
      {"events_per_second", static_cast<double>(r.tokens) / std::max(r.train_seconds, 1e-9)},
      {"epochs", r.epochs},
      {"best_epoch", r.best_epoch},
      {"validation_ndcg10", r.validation_ndcg10},
      {"validation_hit10", r.validation_hit10},
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
      {"package_sha256", r.package_sha256},
      {"step_times", times},
      {"estimate",
       {{"one_process_seconds", e.one_process_seconds},
        {"speed_up", e.speed_up},
        {"efficiency", e.efficiency},
        {"communication_share", e.communication_share},
        {"wait_share", e.wait_share},
        {"twice_the_ranks_seconds", e.twice_the_ranks_seconds},
        {"more_ranks_pay", e.more_pays},
        {"advice", e.advice}}}};
  if (price) {
    json["cost"] = {{"price", *price},
                    {"distributed", CostOf(e.seconds, r.ranks, *price)},
                    {"one_process", CostOf(e.one_process_seconds, 1, *price)}};
  }
  return json.dump(2) + "\n";
}

}  // namespace waymark
