// What a job has cost, where its time went, and whether more ranks would pay: from what was measured in it.
//
// The estimate: forward and backward passes divide among ranks; data, optimizer and the wait for the reader
// do not, and communication stays as it is. One process would then take (the sum of the ranks' passes + one
// rank's rest), and twice the ranks half the passes. It leaves out that ranks on one machine share its memory
// bandwidth: bench/training measures what it is.
#pragma once
#include <optional>
#include <string>

#include "training/distributed/train_job.h"

namespace waymark {

struct JobEstimate {
  double seconds = 0;  // of the steps, as it was
  double one_process_seconds = 0;
  double speed_up = 1, efficiency = 1;  // against one process
  double communication_share = 0, wait_share = 0;
  double twice_the_ranks_seconds = 0;
  bool more_pays = false;  // twice the ranks would be at least 1.3 times as fast
  std::string advice;
};

JobEstimate EstimateOf(const JobResult& result);
// price: of one process for an hour.
std::string ReportText(const JobResult& result, std::optional<double> price);
std::string ReportJson(const JobResult& result, std::optional<double> price);

}  // namespace waymark
