#include "app/import_rows.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "app/exit.h"
#include "app/progress.h"

namespace waymark {
namespace {

constexpr size_t kKeptRefusals = 100;
constexpr int64_t kShownRefusals = 10;

// One file of an import.
class FileImport {
 public:
  FileImport(const ImportPlan& plan, const RowOptions& rows, const std::string& file, Backend* backend,
             ImportReport* report)
      : plan_(plan),
        options_(rows),
        file_(file),
        shown_(file == "-" ? "standard input" : file),
        backend_(backend),
        report_(report),
        batch_(MakeImportBatch(plan.rows.kind, plan.parent, plan.items)),
        progress_(absl::StrCat("import ", shown_)) {}

  absl::Status Run(const std::function<bool()>& stop) {
    report_->stopped_in = file_;
    report_->done_line = options_.skip_lines;
    auto reader = RowReader::Open(file_, options_);
    if (!reader.ok()) return InFile(reader.status());
    Row row;
    while (true) {
      auto more = (*reader)->Next(&row);
      if (!more.ok()) {
        report_->stopped_by_signal = stop();
        return SendThen(InFile(more.status()));
      }
      if (!*more) break;
      ++rows_;
      const int64_t line = row.line;
      const absl::Status taken =
          row.refusal.empty() ? batch_->Add(std::move(row)) : absl::InvalidArgumentError(row.refusal);
      if (!taken.ok()) {
        // What comes before a line that stops the import is written first.
        if (plan_.strict) return SendThen(Refuse({line, std::string(taken.message())}));
        Refuse({line, std::string(taken.message())}).IgnoreError();
      }
      taken_line_ = line;
      if (batch_->Full()) {
        if (auto status = Send(); !status.ok()) return status;
      }
      ShowProgress(**reader);
      if (stop()) {
        report_->stopped_by_signal = true;
        return SendThen(absl::CancelledError("stopped"));
      }
    }
    if (auto status = Send(); !status.ok()) return status;
    if (rows_ == 0 && options_.skip_lines == 0)
      return InFile(absl::InvalidArgumentError("the file holds no rows"));
    report_->stopped_in.clear();
    return absl::OkStatus();
  }

 private:
  absl::Status InFile(const absl::Status& status) const {
    if (absl::StrContains(status.message(), shown_)) return status;  // names the file already
    return absl::Status(status.code(), absl::StrCat(shown_, ": ", status.message()));
  }

  absl::Status Refuse(RefusedLine refused) {
    ++report_->refused;
    const std::string text = absl::StrCat(shown_, ", line ", refused.line, ": ", refused.reason);
    if (!plan_.strict && report_->refused <= kShownRefusals) Say(text);
    if (report_->refused == kShownRefusals + 1)
      Say("(more lines are refused; only their number is shown at the end)");
    if (report_->refusals.size() < kKeptRefusals) report_->refusals.emplace_back(file_, std::move(refused));
    return absl::InvalidArgumentError(text);
  }

  absl::Status Send() {
    if (batch_->Empty()) {
      report_->done_line = std::max(report_->done_line, taken_line_);
      return absl::OkStatus();
    }
    auto outcome = batch_->Send(backend_);
    if (!outcome.ok()) {
      report_->batch_unanswered = absl::IsUnavailable(outcome.status());
      return outcome.status();
    }
    report_->written += outcome->written;
    report_->duplicates += outcome->duplicates;
    report_->done_line = taken_line_;
    absl::Status first;
    for (RefusedLine& refused : outcome->refusals) first.Update(Refuse(std::move(refused)));
    // A server names the first hundred of a batch only.
    report_->refused += outcome->refused - static_cast<int64_t>(outcome->refusals.size());
    return plan_.strict ? first : absl::OkStatus();
  }

  absl::Status SendThen(absl::Status status) {
    auto sent = Send();
    return sent.ok() ? status : sent;
  }

  void ShowProgress(const RowReader& reader) {
    ProgressState state{.done = rows_, .unit = "rows", .fraction = {}, .note = {}};
    if (const auto total = reader.total_bytes(); total && *total > 0) {
      state.fraction = std::min(1.0, static_cast<double>(reader.bytes_read()) / *total);
    }
    if (report_->refused > 0) state.note = absl::StrCat(WithThousands(report_->refused), " refused");
    progress_.Update(state);
  }

  const ImportPlan& plan_;
  const RowOptions options_;
  const std::string file_, shown_;
  Backend* backend_;
  ImportReport* report_;
  std::unique_ptr<ImportBatch> batch_;
  Progress progress_;
  int64_t rows_ = 0;
  int64_t taken_line_ = 0;  // the last one that is in the batch, was sent, or was refused without a stop
};

}  // namespace

absl::Status CheckFiles(const ImportPlan& plan) {
  RowOptions rows = plan.rows;
  rows.skip_lines = 0;
  for (const std::string& file : plan.files) {
    // What was read of a pipe would be gone.
    std::error_code error;
    if (file == "-" ||
        (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error)))
      continue;
    auto reader = RowReader::Open(file, rows);
    if (!reader.ok()) {
      const absl::Status& why = reader.status();
      return absl::StrContains(why.message(), file)
                 ? why
                 : absl::Status(why.code(), absl::StrCat(file, ": ", why.message()));
    }
  }
  return absl::OkStatus();
}

absl::Status ImportRows(const ImportPlan& plan, Backend* backend, const std::function<bool()>& stop,
                        ImportReport* report) {
  RowOptions rows = plan.rows;
  for (size_t i = 0; i < plan.files.size(); ++i) {
    FileImport import(plan, rows, plan.files[i], backend, report);
    if (auto status = import.Run(stop); !status.ok()) {
      report->unread.assign(plan.files.begin() + static_cast<std::ptrdiff_t>(i) + 1, plan.files.end());
      return status;
    }
    rows.skip_lines = 0;  // of the first file only
  }
  return absl::OkStatus();
}

}  // namespace waymark
