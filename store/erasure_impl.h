// The rest of an erasure, after the batch that removed the ids and the attributes: the user's lines of
// history go, and what the log holds of the user is rewritten. An event keeps its items, type and times, so
// that counts can be replayed; a change of attributes becomes an erasure.
//
// Works in small batches, each of which removes the lines that led to what it rewrote: a crash at any moment
// leaves a note, and the next call goes on from there.
//
//   absl::Status status = FinishErasures(database);
#pragma once
#include "absl/status/status.h"
#include "store/database_impl.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

// Finishes every erasure that is noted. One call at a time.
absl::Status FinishErasures(Database& database);

// Takes out of an entry what tells who it was, or what they wrote.
void Anonymize(storage::LogEntry& entry);

}  // namespace waymark
