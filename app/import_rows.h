// A whole import: file after file, batch after batch, with progress; refused rows are counted and the first
// of them shown; a stop comes after the batch that is on its way.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/backend.h"
#include "app/import_batch.h"
#include "store/rows/row_reader.h"

namespace waymark {

struct ImportPlan {
  std::vector<std::string> files;
  RowOptions rows;
  std::string parent;
  bool strict = false;  // stop at the first refused row
  ItemWriting items = ItemWriting::kPut;
};

struct ImportReport {
  int64_t written = 0, duplicates = 0, refused = 0;
  std::vector<std::pair<std::string, RefusedLine>> refusals;  // file and line, the first 100
  // When it did not come to its end: where it stopped. Everything up to this line is done.
  std::string stopped_in;
  int64_t done_line = 0;
  bool stopped_by_signal = false;
  std::vector<std::string> unread;  // files that stood after the one that it stopped in
  bool batch_unanswered = false;    // the server went away while it had a batch
};

// What is wrong with a file that can be told before its rows are read: it is missing, empty, lacks a column.
// Standard input and pipes are not looked at.
absl::Status CheckFiles(const ImportPlan& plan);

// The status is what stopped it; the report holds also then.
absl::Status ImportRows(const ImportPlan& plan, Backend* backend, const std::function<bool()>& stop,
                        ImportReport* report);

}  // namespace waymark
