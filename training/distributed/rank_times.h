// Where the time of all ranks went, for the report. Includes LibTorch: for training/ only.
#pragma once
#include "training/distributed/rank_group.h"
#include "training/distributed/train_job.h"

namespace waymark {

// own: of this rank; threads: each rank has. Fills times, train_seconds and what is said of the machine.
void GatherTimes(RankGroup* group, const StepTimes& own, int threads, JobResult* result);

}  // namespace waymark
