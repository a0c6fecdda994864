// Files of synonyms and of rules: JSONL, a line an entry, packed or not.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "app/backend.h"
#include "store/rows/byte_source.h"

namespace waymark {

enum class CurationEntries { kSynonyms, kRules };

struct CurationFile {
  std::string path, parent;
  CurationEntries entries = CurationEntries::kSynonyms;
  bool strict = false;  // the first wrong line stops
};

struct CurationReport {
  int64_t written = 0, refused = 0;
};

// Puts every entry of the file, which `source` reads, in batches. Wrong lines are named («file, line 3: ...»)
// on standard error and left out; what was written before a stop stays. INVALID_ARGUMENT: nothing is written
// at all.
absl::Status ImportCuration(const CurationFile& file, ByteSource* source, Backend* backend,
                            const std::function<bool()>& stop, CurationReport* report);

// The lines of all entries, in the order of ids; `visit` may stop with an error.
absl::Status ForEachCurationLine(CurationEntries entries, const std::string& parent, Backend* backend,
                                 const std::function<absl::Status(const std::string& line)>& visit);

}  // namespace waymark
