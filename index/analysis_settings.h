// How a collection's text becomes terms: one value for documents and queries alike.
//
//   absl::StatusOr<AnalysisSettings> settings = AnalysisOf(schema.record());
#pragma once
#include <string>

#include "absl/status/statusor.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

enum class StemmerKind {
  kNone,
  kPorter,   // Porter 1980, as Snowball's "porter": what the published figures of test collections use
  kEnglish,  // Snowball's "english" (Porter 2)
};

struct AnalysisSettings {
  StemmerKind stemmer = StemmerKind::kPorter;
  bool remove_stop_words = true;  // Lucene's 33 English ones
  bool operator==(const AnalysisSettings&) const = default;
};

// What a schema says. A schema that names no language is English, with stop words removed and Porter's
// stemmer unless it names another. Language "none" has neither stop words nor, unless one is named, a
// stemmer. INVALID_ARGUMENT names the field, what it holds and what it takes.
absl::StatusOr<AnalysisSettings> AnalysisOf(const storage::SchemaRecord& schema);

// Stable text, in index manifests: an index of other settings is rebuilt.
std::string AnalysisName(const AnalysisSettings& settings);

}  // namespace waymark
