// A stretch of text folded, letter by letter, with where each was written: what words are cut from.
//
//   FoldedLetters text;
//   text.Read("Straße", 0, 7, /*turkish=*/false);
//   text.Utf8(0, text.size());   // "strasse"
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"

namespace waymark {

class FoldedLetters {
 public:
  enum class Kind : uint8_t { kOther, kLetter, kDigit, kCjk, kDictionary };

  // Folds utf8[begin, end) by NFKC_Casefold. `turkish`: I is the capital of ı, İ of i. What was read before
  // is forgotten.
  void Read(std::string_view utf8, size_t begin, size_t end, bool turkish);

  size_t size() const { return letters_.size(); }
  char32_t letter(size_t i) const { return letters_[i].letter; }
  // Marks are of the kind of the letter before them.
  Kind kind(size_t i) const { return letters_[i].kind; }
  bool is_mark(size_t i) const { return letters_[i].mark; }
  // Bytes of the text that the letter comes from.
  size_t begin(size_t i) const { return letters_[i].begin; }
  size_t end(size_t i) const { return letters_[i].end; }
  std::string Utf8(size_t from, size_t to) const;
  // Cuts letters [from, to) by ICU's dictionaries, leaving out what is no word.
  void ForEachDictionaryWord(size_t from, size_t to, absl::FunctionRef<void(size_t, size_t)> visit) const;

 private:
  struct Letter {
    char32_t letter;
    Kind kind;
    bool mark;
    uint32_t begin, end;
  };
  void Append(char32_t letter, size_t begin, size_t end);
  void AppendCluster(std::string_view utf8, size_t begin, size_t end, bool turkish);

  std::vector<Letter> letters_;
};

}  // namespace waymark
