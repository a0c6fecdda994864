// The characters of a filter, read as names, operators and values, with the columns that errors point at.
// For catalog/filter.cc alone.
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace waymark {

class FilterScanner {
 public:
  explicit FilterScanner(std::string_view text) : text_(text) {}

  struct Word {
    std::string text;
    bool quoted = false;
    size_t at = 0;  // where it begins, in bytes
  };

  // INVALID_ARGUMENT «filter, column 9: ...», for the byte at `at`; columns count characters from 1.
  absl::Status Error(size_t at, const std::string& message) const;

  void SkipSpace();
  bool AtEnd();
  size_t position() const { return at_; }
  // The next character after spaces; 0 at the end.
  char Peek();
  // Takes `symbol` when it comes next.
  bool Take(std::string_view symbol);
  // Takes `symbol` only when it comes without a space before it.
  bool TakeHere(std::string_view symbol);
  // Takes a bare word that is exactly `word`.
  bool TakeWord(std::string_view word);
  // The bare word that comes next, not taken; empty when something else does.
  std::string_view PeekWord();

  // A field's name: bare, or quoted where it has other characters in it.
  absl::StatusOr<Word> ReadName();
  // A value: quoted text with escapes, or a bare word, which may hold ':' (times) and '.'.
  absl::StatusOr<Word> ReadValue();

 private:
  absl::StatusOr<Word> ReadQuoted();
  absl::Status ReadEscape(size_t start, std::string* out);
  size_t BareEnd(std::string_view stops) const;

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace waymark
