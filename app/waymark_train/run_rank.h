// What one rank of waymark-train does: finds its place, trains, reports.
#pragma once
#include "app/waymark_train/arguments.h"

namespace waymark {

// Answers the exit code.
int RunRank(const TrainArguments& arguments);

}  // namespace waymark
