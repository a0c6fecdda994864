#include "catalog/filter_scanner.h"

#include <unicode/utf8.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

constexpr std::string_view kNameStops = "()\"',=<>!:";
constexpr std::string_view kValueStops = "()\"',=<>!";

void AppendUtf8(uint32_t character, std::string* out) {
  char buffer[U8_MAX_LENGTH];
  int32_t length = 0;
  U8_APPEND_UNSAFE(buffer, length, character);
  out->append(buffer, static_cast<size_t>(length));
}

}  // namespace

absl::Status FilterScanner::Error(size_t at, const std::string& message) const {
  at = std::min(at, text_.size());
  const auto column = 1 + std::count_if(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at),
                                        [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; });
  return absl::InvalidArgumentError(absl::StrCat("filter, column ", column, ": ", message));
}

void FilterScanner::SkipSpace() {
  while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
}

bool FilterScanner::AtEnd() {
  SkipSpace();
  return at_ >= text_.size();
}

char FilterScanner::Peek() { return AtEnd() ? '\0' : text_[at_]; }

bool FilterScanner::Take(std::string_view symbol) {
  SkipSpace();
  return TakeHere(symbol);
}

bool FilterScanner::TakeHere(std::string_view symbol) {
  if (text_.substr(at_, symbol.size()) != symbol) return false;
  at_ += symbol.size();
  return true;
}

size_t FilterScanner::BareEnd(std::string_view stops) const {
  size_t end = at_;
  while (end < text_.size() && !absl::ascii_isspace(text_[end]) &&
         stops.find(text_[end]) == std::string_view::npos) {
    ++end;
  }
  return end;
}

std::string_view FilterScanner::PeekWord() {
  SkipSpace();
  return text_.substr(at_, BareEnd(kNameStops) - at_);
}

bool FilterScanner::TakeWord(std::string_view word) {
  if (PeekWord() != word) return false;
  at_ += word.size();
  return true;
}

absl::StatusOr<FilterScanner::Word> FilterScanner::ReadName() {
  const char next = Peek();
  if (next == '"' || next == '\'') return ReadQuoted();
  Word word;
  word.at = at_;
  word.text = PeekWord();
  at_ += word.text.size();
  if (word.text.empty()) {
    if (next == '\0') return Error(at_, "the filter ends where a comparison should begin (field = value)");
    return Error(at_, absl::StrCat("'", std::string(1, next),
                                   "' stands where a comparison should begin (field = value)"));
  }
  return word;
}

absl::StatusOr<FilterScanner::Word> FilterScanner::ReadValue() {
  const char next = Peek();
  if (next == '"' || next == '\'') return ReadQuoted();
  Word word;
  word.at = at_;
  word.text = text_.substr(at_, BareEnd(kValueStops) - at_);
  at_ += word.text.size();
  if (word.text.empty()) {
    if (next == '\0') return Error(at_, "the filter ends where a value should be");
    return Error(at_,
                 absl::StrCat("'", std::string(1, next),
                              "' stands where a value should be; put text with such characters in quotes"));
  }
  return word;
}

absl::StatusOr<FilterScanner::Word> FilterScanner::ReadQuoted() {
  Word word;
  word.quoted = true;
  word.at = at_;
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote) {
    if (text_[at_] != '\\') {
      word.text += text_[at_++];
      continue;
    }
    const size_t start = at_++;
    if (at_ >= text_.size()) break;
    if (absl::Status status = ReadEscape(start, &word.text); !status.ok()) return status;
  }
  if (at_ >= text_.size()) {
    return Error(word.at, absl::StrCat("the text that begins here is not closed; end it with ",
                                       std::string(1, quote)));
  }
  ++at_;
  return word;
}

absl::Status FilterScanner::ReadEscape(size_t start, std::string* out) {
  const char escaped = text_[at_++];
  switch (escaped) {
    case '\\':
    case '"':
    case '\'':
      *out += escaped;
      return absl::OkStatus();
    case 'n':
      *out += '\n';
      return absl::OkStatus();
    case 't':
      *out += '\t';
      return absl::OkStatus();
    case 'u': {
      uint32_t character = 0;
      size_t digits = 0;
      for (; digits < 4 && at_ < text_.size() && absl::ascii_isxdigit(text_[at_]); ++digits) {
        const char c = absl::ascii_tolower(text_[at_++]);
        character = character * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      }
      if (digits < 4 || character == 0 || (character >= 0xD800 && character <= 0xDFFF)) {
        return Error(start, "\\u takes four hexadecimal digits of a character; write others as themselves");
      }
      AppendUtf8(character, out);
      return absl::OkStatus();
    }
    default:
      return Error(start, "this escape is not known; there are \\\\ \\\" \\' \\n \\t and \\u1234");
  }
}

}  // namespace waymark
