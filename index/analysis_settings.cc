#include "index/analysis_settings.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "catalog/text_analysis.h"

namespace waymark {
namespace {

const char* StemmerName(StemmerKind kind) {
  switch (kind) {
    case StemmerKind::kPorter:
      return "porter";
    case StemmerKind::kEnglish:
    case StemmerKind::kOfLanguage:
      return "snowball";
    case StemmerKind::kNone:
      break;
  }
  return "none";
}

AnalysisSettings SettingsOf(const TextAnalysis& analysis) {
  const bool english = analysis.language == "english", none = analysis.language == "none";
  AnalysisSettings settings;
  settings.analyzer = analysis.analyzer == "standard" ? AnalyzerKind::kStandard : AnalyzerKind::kWords;
  settings.remove_stop_words = !none && analysis.remove_stop_words;
  settings.stemmer = analysis.stemmer == "none"     ? StemmerKind::kNone
                     : analysis.stemmer == "porter" ? StemmerKind::kPorter
                     : english || none              ? StemmerKind::kEnglish
                                                    : StemmerKind::kOfLanguage;
  if (settings.analyzer == AnalyzerKind::kStandard || !(english || none)) {
    settings.language = analysis.language;
  }
  return settings;
}

}  // namespace

absl::StatusOr<AnalysisSettings> AnalysisOf(const storage::SchemaRecord& schema) {
  const auto analysis = TextAnalysisOf(schema);
  if (!analysis.ok()) return analysis.status();
  return SettingsOf(*analysis);
}

absl::StatusOr<AnalysisSettings> AnalysisOf(const storage::SchemaRecord& schema,
                                            const storage::FieldRecord& field) {
  const auto analysis = TextAnalysisOf(schema, field);
  if (!analysis.ok()) return analysis.status();
  return SettingsOf(*analysis);
}

std::string AnalysisName(const AnalysisSettings& settings) {
  const bool english = settings.language.empty() || settings.language == "english";
  const char* stop_words = !settings.remove_stop_words ? "kept" : english ? "lucene-33" : "snowball";
  const bool words = settings.analyzer == AnalyzerKind::kWords;
  // The leading numbers count changes of segmentation and folding, which old segments do not have.
  return absl::StrCat(words ? "words-1" : "standard-1",
                      settings.language.empty() ? "" : absl::StrCat(" language=", settings.language),
                      " stemmer=", StemmerName(settings.stemmer), " stop-words=", stop_words);
}

std::optional<AnalysisSettings> AnalysisNamed(const std::string& name) {
  std::vector<std::string> languages = {"", "none"};
  for (const TextLanguage& language : TextLanguages()) languages.emplace_back(language.name);
  for (const std::string& language : languages) {
    const bool english = language.empty() || language == "none" || language == "english";
    for (const AnalyzerKind analyzer : {AnalyzerKind::kWords, AnalyzerKind::kStandard}) {
      for (const StemmerKind stemmer : {StemmerKind::kNone, StemmerKind::kPorter,
                                        english ? StemmerKind::kEnglish : StemmerKind::kOfLanguage}) {
        for (const bool stop_words : {false, true}) {
          const AnalysisSettings settings{stemmer, stop_words, analyzer, language};
          if (AnalysisName(settings) == name) return settings;
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace waymark
