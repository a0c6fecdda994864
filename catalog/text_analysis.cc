#include "catalog/text_analysis.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

constexpr std::array<TextLanguage, 28> kLanguages = {
    {{"arabic", false},     {"armenian", false},   {"basque", false},   {"catalan", false},
     {"danish", true},      {"dutch", true},       {"english", true},   {"finnish", true},
     {"french", true},      {"german", true},      {"greek", false},    {"hindi", false},
     {"hungarian", true},   {"indonesian", false}, {"irish", false},    {"italian", true},
     {"lithuanian", false}, {"nepali", true},      {"norwegian", true}, {"portuguese", true},
     {"romanian", false},   {"russian", true},     {"serbian", false},  {"spanish", true},
     {"swedish", true},     {"tamil", false},      {"turkish", true},   {"yiddish", false}}};

std::string Names(bool with_stop_words_only) {
  std::vector<std::string> names;
  for (const TextLanguage& language : kLanguages) {
    if (language.has_stop_words || !with_stop_words_only) names.emplace_back(language.name);
  }
  return absl::StrJoin(names, ", ");
}

// `where`: "schema", or "schema, field 'x'".
absl::Status CheckAnalysis(const std::string& where, const TextAnalysis& analysis) {
  const auto refused = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
  };
  if (analysis.language != "none" && FindTextLanguage(analysis.language) == nullptr) {
    return refused(
        absl::StrCat("language is '", ShortenedText(analysis.language), "'; it takes none, ", Names(false)));
  }
  if (analysis.analyzer != "words" && analysis.analyzer != "standard") {
    return refused(
        absl::StrCat("analyzer is '", ShortenedText(analysis.analyzer), "'; it takes words or standard"));
  }
  if (analysis.stemmer != "snowball" && analysis.stemmer != "porter" && analysis.stemmer != "none") {
    return refused(absl::StrCat("stemmer is '", ShortenedText(analysis.stemmer),
                                "'; it takes snowball, porter or none"));
  }
  if (analysis.stemmer == "porter" && analysis.language != "english" && analysis.language != "none") {
    return refused(absl::StrCat("stemmer is 'porter', which is for English, and language is '",
                                analysis.language, "'; it takes snowball or none"));
  }
  return absl::OkStatus();
}

absl::Status CheckStopWords(const std::string& where, const TextAnalysis& analysis) {
  const TextLanguage* language = FindTextLanguage(analysis.language);
  if (!analysis.remove_stop_words || language == nullptr || language->has_stop_words) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(where,
                                                 ": remove_stop_words is set, and there is no list for '",
                                                 analysis.language, "'; there are lists for ", Names(true)));
}

bool SpeaksEnglish(const std::string& language) { return language == "english" || language == "none"; }

void FillDefaults(TextAnalysis* analysis) {
  if (analysis->analyzer.empty())
    analysis->analyzer = SpeaksEnglish(analysis->language) ? "words" : "standard";
  if (!analysis->stemmer.empty()) return;
  analysis->stemmer = analysis->language == "none"      ? "none"
                      : analysis->language == "english" ? "porter"
                                                        : "snowball";
}

}  // namespace

absl::Span<const TextLanguage> TextLanguages() { return kLanguages; }

const TextLanguage* FindTextLanguage(std::string_view name) {
  const auto found =
      std::find_if(kLanguages.begin(), kLanguages.end(), [&](const auto& l) { return l.name == name; });
  return found == kLanguages.end() ? nullptr : &*found;
}

absl::StatusOr<TextAnalysis> TextAnalysisOf(const storage::SchemaRecord& schema) {
  TextAnalysis analysis{schema.analyzer(), schema.language(), schema.stemmer(), schema.remove_stop_words()};
  if (analysis.language.empty()) {
    analysis.language = "english";
    analysis.remove_stop_words = true;
  }
  FillDefaults(&analysis);
  if (auto status = CheckAnalysis("schema", analysis); !status.ok()) return status;
  if (auto status = CheckStopWords("schema", analysis); !status.ok()) return status;
  return analysis;
}

absl::StatusOr<TextAnalysis> TextAnalysisOf(const storage::SchemaRecord& schema,
                                            const storage::FieldRecord& field) {
  absl::StatusOr<TextAnalysis> analysis = TextAnalysisOf(schema);
  if (!analysis.ok()) return analysis;
  const std::string where = absl::StrCat("schema, field '", ShortenedText(field.name()), "'");
  if (!field.language().empty() && field.language() != analysis->language) {
    const TextLanguage* language = FindTextLanguage(field.language());
    const bool removed = analysis->remove_stop_words && language != nullptr && language->has_stop_words;
    analysis = TextAnalysis{"", field.language(), "", removed};
  }
  if (!field.analyzer().empty()) analysis->analyzer = field.analyzer();
  if (!field.stemmer().empty()) analysis->stemmer = field.stemmer();
  if (field.has_remove_stop_words()) analysis->remove_stop_words = field.remove_stop_words();
  FillDefaults(&*analysis);
  if (auto status = CheckAnalysis(where, *analysis); !status.ok()) return status;
  if (auto status = CheckStopWords(where, *analysis); !status.ok()) return status;
  return analysis;
}

}  // namespace waymark
