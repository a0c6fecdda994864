// The plan of a federation before anybody says otherwise.
#pragma once
#include "waymark/federated/plan.pb.h"

namespace waymark {

// For sparse data (short histories, a large catalogue), as RetrieverOptions; four or more sites of some
// thousand users. `session` is left empty.
federated::Plan DefaultPlan();

}  // namespace waymark
