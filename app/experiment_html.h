// The report of an experiment as one page that needs nothing beside it: no script, no font, no picture from
// elsewhere, so that it can be mailed and kept.
#pragma once
#include <string>

#include "waymark/v1/experiment.pb.h"

namespace waymark {

std::string ExperimentReportHtml(const v1::Experiment& experiment, const v1::ExperimentReport& report);

}  // namespace waymark
