// What a job has cost, where its time went, and whether more ranks would pay: from what was measured in it.
//
// The estimate is made of CPU seconds: the passes over the parts of a batch divide among ranks and their
// threads; what each rank does for itself and its wait for the reader do not. One process would take all
// passes and one rank's rest; twice the ranks half the passes, that rest, and twice the communication. Cores
// are shared evenly by all threads that want them: the share that the ranks' threads had tells how many of
// other programs there were, and one process would have shared with those, and not with other ranks. It says
// nothing of memory bandwidth that ranks of a machine share: bench/training.sh measures what it is. Of a
// model that several ranks hold together no estimate is given.
#pragma once
#include <optional>
#include <string>

#include "training/distributed/train_job.h"

namespace waymark {

struct JobEstimate {
  double seconds = 0;  // of the steps, as it was
  double one_process_seconds = 0;
  double speed_up = 1, efficiency = 1;  // of the run as it was, against one process
  double communication_share = 0, wait_share = 0;
  double core_share = 1;         // of the time that its threads were at work, what a thread had of a core
  double uncrowded_seconds = 0;  // of these ranks, and of twice as many, when none shares a core with another
  double twice_the_ranks_seconds = 0;
  bool more_pays =
      false;  // twice the ranks would be at least 1.3 times as fast, and there are cores for them
  std::string advice;
};

JobEstimate EstimateOf(const JobResult& result);
// price: of one process for an hour.
std::string ReportText(const JobResult& result, std::optional<double> price);
std::string ReportJson(const JobResult& result, std::optional<double> price);

}  // namespace waymark
