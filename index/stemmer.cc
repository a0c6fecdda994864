#include "index/stemmer.h"

#include <libstemmer.h>

#include <memory>
#include <string>
#include <vector>

#include "catalog/text_analysis.h"

namespace waymark {
namespace {

struct DeleteStemmer {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using StemmerPtr = std::unique_ptr<sb_stemmer, DeleteStemmer>;

constexpr size_t kPorterNumber = 1, kFirstLanguage = 2;

// libstemmer's state is not for two threads at once.
sb_stemmer* OfThisThread(size_t number) {
  thread_local std::vector<StemmerPtr> stemmers(kFirstLanguage + TextLanguages().size());
  StemmerPtr& stemmer = stemmers[number];
  if (!stemmer) {
    const std::string name =
        number == kPorterNumber ? "porter" : std::string(TextLanguages()[number - kFirstLanguage].name);
    stemmer.reset(sb_stemmer_new(name.c_str(), "UTF_8"));
  }
  return stemmer.get();
}

size_t NumberOfLanguage(std::string_view name) {
  const TextLanguage* language = FindTextLanguage(name);
  return language == nullptr ? 0 : kFirstLanguage + static_cast<size_t>(language - TextLanguages().data());
}

size_t NumberOf(const AnalysisSettings& settings) {
  switch (settings.stemmer) {
    case StemmerKind::kPorter:
      return kPorterNumber;
    case StemmerKind::kEnglish:
      return NumberOfLanguage("english");
    case StemmerKind::kOfLanguage:
      return NumberOfLanguage(settings.language);
    case StemmerKind::kNone:
      break;
  }
  return 0;
}

}  // namespace

Stemmer::Stemmer(const AnalysisSettings& settings) : number_(NumberOf(settings)) {}

std::string_view Stemmer::Stem(std::string_view word) const {
  if (number_ == 0) return word;
  sb_stemmer* stemmer = OfThisThread(number_);
  if (stemmer == nullptr) return word;
  const sb_symbol* stem = sb_stemmer_stem(stemmer, reinterpret_cast<const sb_symbol*>(word.data()),
                                          static_cast<int>(word.size()));
  if (stem == nullptr) return word;  // out of memory
  return {reinterpret_cast<const char*>(stem), static_cast<size_t>(sb_stemmer_length(stemmer))};
}

}  // namespace waymark
