// What to do with a store whose log is damaged before writes that were answered, so that it does not open.
#pragma once
#include <filesystem>

#include "absl/status/status.h"

namespace waymark {

// Opens the store and closes it: the writes behind the damage are gone for good, as the program's log says;
// without damage nothing changes. FAILED_PRECONDITION: another process has it open. NOT_FOUND: no store is
// there. DATA_LOSS: more than the log is damaged.
absl::Status GiveUpDamagedWrites(const std::filesystem::path& data);

}  // namespace waymark
