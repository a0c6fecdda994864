#include "store/damaged_log.h"

#include "absl/strings/str_cat.h"
#include "store/database_impl.h"

namespace waymark {

absl::Status GiveUpDamagedWrites(const std::filesystem::path& data) {
  const std::filesystem::path folder = data / "store";
  if (!std::filesystem::exists(folder / "CURRENT")) {
    return absl::NotFoundError(absl::StrCat("there is no store in ", data.string()));
  }
  DatabaseOptions options;
  options.create = false;
  options.give_up_damaged_writes = true;
  return Database::Open(folder, options).status();
}

}  // namespace waymark
