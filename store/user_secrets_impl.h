// A secret for each user and visitor, 32 random bytes: keys of what is sealed outside the store (training
// shards) are derived from it. Made with the user, removed in the batch that erases the user, never in the
// log. For the .cc files of this folder only.
#pragma once
#include <string>

#include "absl/status/status.h"
#include "store/database_impl.h"

namespace waymark {

std::string NewUserSecret();
// Of every user that has none yet: those of a folder of format 1. In batches, so that what a crash has cut
// short goes on.
absl::Status MakeMissingSecrets(Database& database);

}  // namespace waymark
