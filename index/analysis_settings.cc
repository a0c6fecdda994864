#include "index/analysis_settings.h"

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

const char* StemmerName(StemmerKind kind) {
  switch (kind) {
    case StemmerKind::kPorter:
      return "porter";
    case StemmerKind::kEnglish:
      return "snowball";
    case StemmerKind::kNone:
      break;
  }
  return "none";
}

}  // namespace

absl::StatusOr<AnalysisSettings> AnalysisOf(const storage::SchemaRecord& schema) {
  const std::string& language = schema.language();
  if (!language.empty() && language != "english" && language != "none") {
    return absl::InvalidArgumentError(
        absl::StrCat("schema.language is '", language, "'; it takes 'english' or 'none'"));
  }
  AnalysisSettings settings;
  const bool english = language != "none";
  settings.remove_stop_words = english && (language.empty() || schema.remove_stop_words());
  const std::string& stemmer = schema.stemmer();
  if (stemmer.empty()) {
    settings.stemmer = english ? StemmerKind::kPorter : StemmerKind::kNone;
  } else if (stemmer == "porter") {
    settings.stemmer = StemmerKind::kPorter;
  } else if (stemmer == "snowball" || stemmer == "english") {
    settings.stemmer = StemmerKind::kEnglish;
  } else if (stemmer == "none") {
    settings.stemmer = StemmerKind::kNone;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("schema.stemmer is '", stemmer, "'; it takes 'porter', 'snowball' or 'none'"));
  }
  return settings;
}

std::string AnalysisName(const AnalysisSettings& settings) {
  // The leading number counts changes of segmentation and folding, which old segments do not have.
  return absl::StrCat("words-1 stemmer=", StemmerName(settings.stemmer),
                      " stop-words=", settings.remove_stop_words ? "lucene-33" : "kept");
}

}  // namespace waymark
