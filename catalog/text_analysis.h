// The names by which a schema says how text becomes words: analyzers, languages, stemmers, stop words. What
// they mean is done in index/ (index/analysis_settings.h); here stands which there are, and what goes
// together.
//
//   auto analysis = TextAnalysisOf(schema);                 // the schema's own
//   auto german = TextAnalysisOf(schema, *schema.Find("titel"));   // language "german", stemmer "snowball"
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

struct TextLanguage {
  std::string_view name;  // as Snowball's stemmers are named
  bool has_stop_words;
};

// By name, without "none".
absl::Span<const TextLanguage> TextLanguages();
// Null: there is no such language.
const TextLanguage* FindTextLanguage(std::string_view name);

// With every name filled in.
struct TextAnalysis {
  std::string analyzer;  // "words", "standard"
  std::string language;  // of TextLanguages(), or "none"
  std::string stemmer;   // "porter", "snowball", "none"
  bool remove_stop_words = false;
  bool operator==(const TextAnalysis&) const = default;
};

// What a schema says of all its fields. A schema that names no language is English, with stop words removed.
// INVALID_ARGUMENT names the setting, what it holds and what it takes.
absl::StatusOr<TextAnalysis> TextAnalysisOf(const storage::SchemaRecord& schema);
// Of one field: what it does not say itself is as the schema says; under a language of its own the analyzer
// and the stemmer are those of that language.
absl::StatusOr<TextAnalysis> TextAnalysisOf(const storage::SchemaRecord& schema,
                                            const storage::FieldRecord& field);

}  // namespace waymark
