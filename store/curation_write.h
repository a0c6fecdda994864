// What the store takes of curation: one synonym, rule, slot or variant of a slot, put or deleted.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "waymark/storage/curation.pb.h"

namespace waymark {

// A variant's id is «slot/variant».
enum class CurationKind { kSynonym, kRule, kSlotVariant, kSlot };

struct CurationWrite {
  CurationKind kind = CurationKind::kSynonym;
  std::string id;
  // What is written, by its `entry`; revision and times are the store's. None: what is there is deleted.
  std::optional<storage::CurationRecord> record;
  // What must be there: a revision, or nothing (0). None: whatever is.
  std::optional<int64_t> expected_revision;
};

struct CurationWritten {
  // ABORTED, ALREADY_EXISTS: not what was expected. NOT_FOUND: nothing to delete.
  absl::Status status;
  std::optional<storage::CurationRecord> before, after;  // none: there was, there is none
};

}  // namespace waymark
