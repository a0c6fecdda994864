// Which retriever a ranker is trained for: the one of the release that serves, else the newest.
#pragma once
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "app/backend.h"
#include "app/data_copy.h"
#include "app/target.h"
#include "store/package/model_package.h"
#include "waymark/v1/release.pb.h"

namespace waymark {

// Without an id: none is active.
absl::StatusOr<v1::Release> ActiveRelease(const Target& target, Backend* backend);
// None: no retriever is registered.
absl::StatusOr<std::optional<ModelPackage>> ServingRetriever(const std::string& data_folder,
                                                             const CopiedCollection& data,
                                                             const v1::Release& active);

}  // namespace waymark
