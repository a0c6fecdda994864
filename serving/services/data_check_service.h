// AdminService.CheckData.
#pragma once
#include <vector>

#include "pipeline/engine.h"
#include "serving/method_registry.h"
#include "waymark/v1/data_check.pb.h"

namespace waymark {

void RegisterDataCheck(Engine* engine, MethodRegistry* registry);
// Of checks of collections, as the API says them.
void ToMessage(const std::vector<CollectionCheck>& checks, v1::CheckDataResponse* response);

}  // namespace waymark
