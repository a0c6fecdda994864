#include "index/stemmer.h"

#include <libstemmer.h>

#include <memory>

namespace waymark {
namespace {

struct DeleteStemmer {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using StemmerPtr = std::unique_ptr<sb_stemmer, DeleteStemmer>;

// libstemmer's state is not for two threads at once.
sb_stemmer* OfThisThread(StemmerKind kind) {
  thread_local StemmerPtr porter, english;
  StemmerPtr& stemmer = kind == StemmerKind::kPorter ? porter : english;
  if (!stemmer) stemmer.reset(sb_stemmer_new(kind == StemmerKind::kPorter ? "porter" : "english", "UTF_8"));
  return stemmer.get();
}

}  // namespace

std::string_view StemWord(StemmerKind kind, std::string_view word) {
  if (kind == StemmerKind::kNone) return word;
  sb_stemmer* stemmer = OfThisThread(kind);
  if (stemmer == nullptr) return word;
  const sb_symbol* stem = sb_stemmer_stem(stemmer, reinterpret_cast<const sb_symbol*>(word.data()),
                                          static_cast<int>(word.size()));
  if (stem == nullptr) return word;  // out of memory
  return {reinterpret_cast<const char*>(stem), static_cast<size_t>(sb_stemmer_length(stemmer))};
}

}  // namespace waymark
