#include "app/waymark_train/run_rank.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stop_token>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "app/stop_signal.h"
#include "training/distributed/event_file.h"
#include "training/distributed/job_report.h"

namespace waymark {
namespace {

constexpr int kDoneCode = 0, kFailedCode = 1, kUsageCode = 2;

void Print(const std::string& message) {
  std::fprintf(stderr, "waymark-train: %s\n", message.c_str());
  std::fflush(stderr);
}

int FailRank(const LaunchPlace& place, const absl::Status& status) {
  const std::string rank = absl::StrCat("rank ", place.rank);
  const bool named = place.world_size == 1 || absl::StartsWith(status.message(), absl::StrCat(rank, " "));
  Print(absl::StrCat(named ? "" : absl::StrCat(rank, ": "), std::string(status.message())));
  return absl::IsInvalidArgument(status) ? kUsageCode : kFailedCode;
}

std::string ProgressLine(const JobProgress& p) {
  const double all = std::max(p.times.All(), 1e-9) / 100;
  std::string text =
      absl::StrFormat("epoch %d/%d  %.0f%%  loss %.4f", p.epoch, p.epochs, 100 * p.done, p.loss);
  if (p.validation_ndcg10 >= 0) absl::StrAppendFormat(&text, "  nDCG@10 %.4f", p.validation_ndcg10);
  absl::StrAppendFormat(
      &text,
      "  %.0f %s/s  (wait %.0f%% data %.0f%% forward %.0f%% backward %.0f%% communication %.0f%% "
      "optimizer %.0f%%)",
      p.tokens_per_second, p.unit, p.times.wait / all, p.times.data / all, p.times.forward / all,
      p.times.backward / all, p.times.communication / all, p.times.optimizer / all);
  if (p.time_left < absl::InfiniteDuration()) {
    absl::StrAppendFormat(&text, "  %.0f s left", absl::ToDoubleSeconds(p.time_left));
  }
  return text;
}

absl::Status CannotWrite(const char* option, const std::filesystem::path& file) {
  return absl::FailedPreconditionError(
      absl::StrCat(option, ": cannot write ", file.string(), ": ", std::strerror(errno)));
}

// What the first rank shows while it trains.
class Watch {
 public:
  Watch() : on_terminal_(isatty(STDERR_FILENO) != 0) {}

  // Of the files that were asked for, the first that cannot be written: known before the training, not after.
  absl::Status Open(const TrainArguments& arguments) {
    if (!arguments.events.empty()) {
      if (absl::Status opened = events_.Open(arguments.events); !opened.ok()) return opened;
    }
    if (!arguments.losses.empty()) {
      losses_.open(arguments.losses, std::ios::trunc);
      if (!losses_) return CannotWrite("--losses", arguments.losses);
    }
    if (!arguments.report.empty() && !std::ofstream(arguments.report, std::ios::app)) {
      return CannotWrite("--report", arguments.report);
    }
    return absl::OkStatus();
  }

  void Progress(const JobProgress& p) {
    events_.Add(p.step, {{"loss", p.loss},
                         {"learning_rate", p.learning_rate},
                         {absl::StrCat(p.unit, "_per_second"), p.tokens_per_second},
                         {"communication_share", p.times.communication / std::max(p.times.All(), 1e-9)},
                         {"wait_share", p.times.wait / std::max(p.times.All(), 1e-9)}});
    if (p.epoch_finished && p.validation_ndcg10 >= 0) {
      events_.Add(p.step, {{"validation_ndcg10", p.validation_ndcg10}});
    }
    if (on_terminal_) {
      std::fprintf(stderr, "\r\x1b[K%s%s", ProgressLine(p).c_str(), p.epoch_finished ? "\n" : "");
      std::fflush(stderr);
    } else if (p.epoch_finished || absl::Now() - printed_ >= absl::Seconds(5)) {
      printed_ = absl::Now();
      Print(ProgressLine(p));
    }
  }

  void Step(int64_t step, double loss) {
    if (losses_.is_open()) losses_ << step << " " << absl::StrFormat("%.17g", loss) << std::endl;
  }

  absl::Status Close() {
    if (losses_.is_open()) {
      losses_.close();
      if (!losses_) return absl::UnavailableError("the file of --losses was not written whole");
    }
    return events_.Close();
  }

 private:
  bool on_terminal_;
  EventFile events_;
  std::ofstream losses_;
  absl::Time printed_ = absl::InfinitePast();
};

absl::Status WriteReport(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::trunc);
  out << text;
  out.close();
  return out ? absl::OkStatus() : CannotWrite("--report", file);
}

}  // namespace

int RunRank(const TrainArguments& arguments) {
  auto place = FindLaunch(ProcessEnvironment(), arguments.launch);
  if (!place.ok()) return FailRank({}, place.status());
  StopSignal signal;
  if (place->world_size > 1) Print(Describe(*place));
  std::stop_source stop;
  const std::jthread watcher([&](const std::stop_token& done) {
    while (!done.stop_requested() && !signal.Requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (signal.Requested()) stop.request_stop();
  });
  JobOptions job = arguments.job;
  job.say = Print;
  std::optional<Watch> watch;
  if (place->rank == 0) {
    job.ready = watch.emplace().Open(arguments);
    job.progress = [&](const JobProgress& p) { watch->Progress(p); };
    job.on_step = [&](int64_t step, double loss) { watch->Step(step, loss); };
  }
  auto result = RunTrainJob(*place, job, stop.get_token());
  if (!result.ok()) return FailRank(*place, result.status());
  if (place->rank != 0) return kDoneCode;
  const absl::Status closed = watch->Close();
  std::fputs(ReportText(*result, arguments.price).c_str(), stdout);
  if (!arguments.report.empty()) {
    absl::Status written = WriteReport(arguments.report, ReportJson(*result, arguments.price));
    if (!written.ok()) return FailRank(*place, written);
  }
  if (result->stopped_early) {
    Print(absl::StrCat("ended after ", job.max_steps, " steps (--max-steps), without a package"));
    return closed.ok() ? kDoneCode : FailRank(*place, closed);
  }
  std::printf(
      "best epoch %d of %d, validation nDCG@10 %.4f%s\npackage %s\n  sha256 %s\n", result->best_epoch,
      result->epochs, result->validation_ndcg10,
      result->validation_hit10 >= 0 ? absl::StrFormat(", HR@10 %.4f", result->validation_hit10).c_str() : "",
      job.package.c_str(), result->package_sha256.c_str());
  return closed.ok() ? kDoneCode : FailRank(*place, closed);
}

}  // namespace waymark
