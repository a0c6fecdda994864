// Events between rows and the API.
#pragma once
#include "absl/status/statusor.h"
#include "store/mutation.h"
#include "waymark/v1/event.pb.h"

namespace waymark {

v1::Event ToMessage(const WriteEvent& event);
WriteEvent FromMessage(const v1::Event& event);

}  // namespace waymark
