// Writing the files of a package so that they last: every error is seen, and the bytes are on the disk before
// the package takes its name.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace waymark {

// Writes the parts one after another and syncs. RESOURCE_EXHAUSTED: the disk is full.
absl::Status WriteSyncedFile(const std::filesystem::path& file, absl::Span<const std::string_view> parts);
// Makes the names in a folder last.
absl::Status SyncFolder(const std::filesystem::path& folder);
// DATA_LOSS when it is longer than `max_bytes` or cannot be read.
absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& file, uint64_t max_bytes);

}  // namespace waymark
