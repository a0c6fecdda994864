// Experiments and their reports as people read them.
#pragma once
#include <string>

#include "waymark/v1/experiment.pb.h"

namespace waymark {

// «draft», «running», «rolled back», ...
std::string StateText(v1::Experiment::State state);
// One line.
std::string ExperimentText(const v1::Experiment& experiment);
std::string ExperimentReportText(const v1::ExperimentReport& report);

}  // namespace waymark
