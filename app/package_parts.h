// A model package as the messages of ImportModel.
#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "waymark/v1/model.pb.h"

namespace waymark {

// File by file, in order of their names, at most 1 MB a message. NOT_FOUND: no such folder, or one without
// manifest.json; stops at the first error of `send`.
absl::Status ForEachPackagePart(const std::string& parent, const std::filesystem::path& folder,
                                const std::function<absl::Status(const v1::ImportModelRequest&)>& send);

}  // namespace waymark
