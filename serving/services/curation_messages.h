// Synonyms and rules between the API and the store.
#pragma once
#include "absl/status/statusor.h"
#include "store/ids.h"
#include "waymark/storage/curation.pb.h"
#include "waymark/v1/curation.pb.h"

namespace waymark {

// INVALID_ARGUMENT: times that are none, enumerators that this version does not know. All else is checked by
// curation/curation_check.h.
absl::StatusOr<storage::CurationRecord> RecordOf(const v1::Synonym& synonym);
absl::StatusOr<storage::CurationRecord> RecordOf(const v1::Rule& rule);

void ToMessage(const CollectionName& collection, const storage::CurationRecord& record, v1::Synonym* synonym);
void ToMessage(const CollectionName& collection, const storage::CurationRecord& record, v1::Rule* rule);

}  // namespace waymark
