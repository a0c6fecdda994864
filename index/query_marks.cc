#include "index/query_marks.h"

#include "absl/strings/str_cat.h"
#include "index/typo_automaton.h"

namespace waymark {
namespace {

std::string InQuotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "\"";
}

int MarkOf(const TermReading& reading) {
  if (reading.kind == TermReading::Kind::kTypos) return 2 + reading.edits;
  return reading.kind == TermReading::Kind::kPrefix ? 1 : 0;
}

}  // namespace

bool SameMarks(const TermReading& a, const TermReading& b) { return MarkOf(a) == MarkOf(b); }

std::string TermKey(std::string_view term, const TermReading& reading, uint32_t scope) {
  std::string key(term);
  absl::StrAppend(&key, "~", MarkOf(reading), ":", scope);
  return key;
}

TermReading ReadWordMarks(std::string_view* text) {
  TermReading reading;
  if (text->ends_with('*')) {
    reading.kind = TermReading::Kind::kPrefix;
    text->remove_suffix(1);
    return reading;
  }
  const size_t tilde = text->rfind('~');
  if (tilde == text->npos) return reading;
  const std::string_view edits = text->substr(tilde + 1);
  if (edits.find_first_not_of("0123456789") != edits.npos) return reading;
  text->remove_suffix(edits.size() + 1);
  if (edits == "0") {
    reading.kind = TermReading::Kind::kExact;
  } else {
    reading.kind = TermReading::Kind::kTypos;
    reading.edits = edits.empty() ? 0 : edits == "1" ? 1 : TypoAutomaton::kMaxEdits;
  }
  return reading;
}

bool IsRange(std::string_view text) {
  return text.starts_with('<') || text.starts_with('>') || text.find("..") != std::string_view::npos;
}

std::string FilterOf(std::string_view field, std::string_view text, bool phrase) {
  if (phrase || !IsRange(text)) return absl::StrCat(InQuotes(field), ":", InQuotes(text));
  const bool compares = text.starts_with('<') || text.starts_with('>');
  return absl::StrCat(InQuotes(field), compares ? " " : ":", std::string(text));
}

}  // namespace waymark
