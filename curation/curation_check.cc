#include "curation/curation_check.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "curation/curation_limits.h"
#include "index/synonym_table.h"
#include "store/text_check.h"

namespace waymark {
namespace {

absl::Status Wrong(const std::string& field, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", what));
}

// Collects what the phrases are to the analysis.
absl::Status CheckPhrases(const char* name, const google::protobuf::RepeatedPtrField<std::string>& phrases,
                          const Analyzer& analyzer, std::set<std::vector<std::string>>* analysed) {
  const std::string list = absl::StrCat("synonym.", name);
  if (phrases.size() > static_cast<int>(kMostPhrases)) {
    return Wrong(list, absl::StrCat(phrases.size(), " are given; it takes at most ", kMostPhrases));
  }
  for (int i = 0; i < phrases.size(); ++i) {
    const std::string field = absl::StrCat(list, "[", i, "]");
    if (auto status = CheckText(field, phrases[i], kMostPhraseBytes); !status.ok()) return status;
    SynonymPhrase phrase = AnalysePhrase(phrases[i], analyzer);
    if (phrase.terms.empty()) {
      return Wrong(field, absl::StrCat("is '", Shortened(phrases[i]),
                                       "', in which this collection's analysis finds no word (stop words are "
                                       "none); it takes at least one"));
    }
    if (phrase.terms.size() > kMostPhraseWords) {
      return Wrong(field,
                   absl::StrCat("has ", phrase.terms.size(), " words; it takes at most ", kMostPhraseWords));
    }
    analysed->insert(std::move(phrase.terms));
  }
  return absl::OkStatus();
}

absl::Status CheckLanguage(const std::string& language) {
  const bool good = language.size() <= kMostLanguageBytes &&
                    language.find_first_not_of(
                        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "-_") == std::string::npos;
  if (good) return absl::OkStatus();
  return Wrong("synonym.language",
               absl::StrCat("is '", Shortened(language), "'; it takes a language tag, as «de» or «en-GB»"));
}

}  // namespace

absl::Status CheckSynonym(const storage::SynonymRecord& synonym, const Analyzer& analyzer) {
  if (auto status = CheckLanguage(synonym.language()); !status.ok()) return status;
  const bool two_way = !synonym.words().empty();
  if (two_way && (!synonym.from().empty() || !synonym.to().empty())) {
    return Wrong("synonym.words",
                 "stands beside `from` or `to`; it takes either `words` (two-way), or `from` "
                 "and `to` (one-way)");
  }
  std::set<std::vector<std::string>> words, from, to;
  if (two_way) {
    if (auto status = CheckPhrases("words", synonym.words(), analyzer, &words); !status.ok()) return status;
    if (words.size() >= 2) return absl::OkStatus();
    return Wrong("synonym.words",
                 synonym.words().size() < 2
                     ? "has one entry; it takes two or more"
                     : "are all the same word to this collection's analysis; it takes two or more");
  }
  if (synonym.from().empty() && synonym.to().empty()) {
    return Wrong("synonym.words", "is empty; it takes `words` (two-way), or `from` and `to` (one-way)");
  }
  for (const auto& [name, list] : {std::pair("from", &synonym.from()), std::pair("to", &synonym.to())}) {
    if (list->empty())
      return Wrong(absl::StrCat("synonym.", name), "is empty; one-way synonyms have both sides");
  }
  if (auto status = CheckPhrases("from", synonym.from(), analyzer, &from); !status.ok()) return status;
  if (auto status = CheckPhrases("to", synonym.to(), analyzer, &to); !status.ok()) return status;
  if (from == to && from.size() == 1) {
    return Wrong("synonym.to", "is the same word as `from` to this collection's analysis");
  }
  return absl::OkStatus();
}

}  // namespace waymark
