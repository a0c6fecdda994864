// Where an index lies: DATA/index/<tenant>-<collection>, both as numbers, with beside it, for a while,
//   <folder>.building    a rebuild that has not taken its place yet
//   <folder>.part-N      segments of a bulk load that are not the index's yet; also of a rebuild
//   <folder>.old         what a rebuild has taken the place of
//   <folder>.damaged-N   what could not be used; at most three are kept, for whoever looks into the cause
#pragma once
#include <filesystem>

#include "absl/status/statusor.h"
#include "store/ids.h"

namespace waymark {

std::filesystem::path IndexFolder(const std::filesystem::path& data, Scope scope);
std::filesystem::path BuildingFolder(const std::filesystem::path& folder);
std::filesystem::path PartFolder(const std::filesystem::path& folder, size_t part);

// Puts right what a crash has left: a rebuild that was finished but stands beside an empty place moves in,
// others go.
absl::Status TidyIndexFolder(const std::filesystem::path& folder);
// Renames `folder` to <folder>.damaged-N with a new N, which it answers.
absl::StatusOr<std::filesystem::path> SetAside(const std::filesystem::path& folder);
// Puts the finished rebuild in the folder's place.
absl::Status SwapInBuilding(const std::filesystem::path& folder);

}  // namespace waymark
