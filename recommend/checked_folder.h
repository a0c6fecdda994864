// Whether the files of a folder that recommend/checked_file.h wrote are what was written.
#pragma once
#include <filesystem>

#include "store/ids.h"
#include "store/part_check.h"

namespace waymark {

// Every such file below `folder`, against its checksum; those that were set aside, and others' unfinished
// ones, are passed over. A folder that is not there has none.
void CheckFolder(const std::filesystem::path& data, const std::filesystem::path& folder, PartCheck* check);
// The same for the vectors of a collection, where every segment that a manifest names must be there too.
void CheckVectorFiles(const std::filesystem::path& data, Scope scope, PartCheck* check);

}  // namespace waymark
