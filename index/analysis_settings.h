// How text becomes terms: one value for documents and queries alike.
//
//   absl::StatusOr<AnalysisSettings> settings = AnalysisOf(schema.record());
#pragma once
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

enum class StemmerKind {
  kNone,
  kPorter,      // Porter 1980, as Snowball's "porter": what the published figures of test collections use
  kEnglish,     // Snowball's "english" (Porter 2)
  kOfLanguage,  // Snowball's for AnalysisSettings::language, which is not English
};

enum class AnalyzerKind {
  kWords,     // runs of letters and digits (index/word_segmenter.h)
  kStandard,  // compounds, numbers, elision, marks, pairs of CJK characters, exact forms
              // (index/unit_segmenter.h)
};

struct AnalysisSettings {
  StemmerKind stemmer = StemmerKind::kPorter;
  bool remove_stop_words = true;  // of English: Lucene's 33; of others: Snowball's
  AnalyzerKind analyzer = AnalyzerKind::kWords;
  // As catalog/text_analysis.h names it; empty: English or none under kWords, which need no rules.
  std::string language;
  bool operator==(const AnalysisSettings&) const = default;
};

// What a schema says of all fields, and of one. The defaults and rules are in catalog/text_analysis.h.
// INVALID_ARGUMENT names the field, what it holds and what it takes.
absl::StatusOr<AnalysisSettings> AnalysisOf(const storage::SchemaRecord& schema);
absl::StatusOr<AnalysisSettings> AnalysisOf(const storage::SchemaRecord& schema,
                                            const storage::FieldRecord& field);

// Stable text, in index manifests: an index of other settings is rebuilt.
std::string AnalysisName(const AnalysisSettings& settings);
// The settings of that name; none for a name of another version of the analysis.
std::optional<AnalysisSettings> AnalysisNamed(const std::string& name);

}  // namespace waymark
