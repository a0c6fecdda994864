#include "index/word_segmenter.h"

#include <unicode/brkiter.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace waymark {
namespace {

using Visit = absl::FunctionRef<void(std::string_view)>;

// The folded character, 0 for what separates words, 1 for bytes beyond ASCII.
constexpr char kBeyondAscii = 1;
constexpr std::array<char, 256> MakeAsciiTable() {
  std::array<char, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = static_cast<char>(c);
  for (int c = 'a'; c <= 'z'; ++c) table[c] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = static_cast<char>(c - 'A' + 'a');
  for (int c = 128; c < 256; ++c) table[c] = kBeyondAscii;
  return table;
}
constexpr std::array<char, 256> kAscii = MakeAsciiTable();

bool StartsWord(UChar32 c) { return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0; }
bool ContinuesWord(UChar32 c) { return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK | U_GC_M_MASK)) != 0; }

bool WrittenWithoutSpaces(UChar32 c) {
  UErrorCode error = U_ZERO_ERROR;
  switch (uscript_getScript(c, &error)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
      return true;
    default:
      return false;
  }
}

// ICU's iterators are not for two threads at once. Null without ICU's data.
icu::BreakIterator* WordBreaks() {
  thread_local std::unique_ptr<icu::BreakIterator> breaks = [] {
    UErrorCode error = U_ZERO_ERROR;
    std::unique_ptr<icu::BreakIterator> made(
        icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), error));
    return U_SUCCESS(error) ? std::move(made) : nullptr;
  }();
  return breaks.get();
}

void VisitWord(icu::UnicodeString word, Visit visit) {
  if (word.countChar32() > kMaxWordLength) word.truncate(word.moveIndex32(0, kMaxWordLength));
  std::string utf8;
  word.toUTF8String(utf8);
  if (!utf8.empty()) visit(utf8);
}

void VisitRun(const icu::UnicodeString& run, bool dictionary, Visit visit) {
  icu::BreakIterator* breaks = dictionary ? WordBreaks() : nullptr;
  if (breaks == nullptr) return VisitWord(run, visit);
  breaks->setText(run);
  for (int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks->next()) {
    VisitWord(run.tempSubStringBetween(begin, end), visit);
  }
}

// A stretch without spaces that holds something beyond ASCII.
void SegmentUnicode(std::string_view utf8, Visit visit) {
  UErrorCode error = U_ZERO_ERROR;
  static const icu::Normalizer2* const folding = icu::Normalizer2::getNFKCCasefoldInstance(error);
  const icu::UnicodeString raw =
      icu::UnicodeString::fromUTF8(icu::StringPiece(utf8.data(), static_cast<int32_t>(utf8.size())));
  icu::UnicodeString text;
  UErrorCode folded = folding == nullptr ? U_INTERNAL_PROGRAM_ERROR : U_ZERO_ERROR;
  if (folding != nullptr) text = folding->normalize(raw, folded);
  if (U_FAILURE(folded)) text = icu::UnicodeString(raw).foldCase();

  int32_t begin = -1;  // of the run; -1: between runs
  bool dictionary = false;
  for (int32_t i = 0; i < text.length();) {
    const UChar32 c = text.char32At(i);
    if (begin < 0 ? StartsWord(c) : ContinuesWord(c)) {
      if (begin < 0) begin = i, dictionary = false;
      dictionary = dictionary || WrittenWithoutSpaces(c);
    } else if (begin >= 0) {
      VisitRun(text.tempSubStringBetween(begin, i), dictionary, visit);
      begin = -1;
    }
    i = text.moveIndex32(i, 1);
  }
  if (begin >= 0) VisitRun(text.tempSubStringBetween(begin), dictionary, visit);
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

void SegmentWords(std::string_view utf8, Visit visit) {
  // Most text is ASCII: only stretches between spaces that are not take the way through ICU, from the
  // stretch's first byte, because a combining mark changes the letter before it.
  char word[kMaxWordLength];
  size_t i = 0;
  while (i < utf8.size()) {
    const size_t stretch = i;
    size_t end = stretch;
    bool ascii = true;
    while (end < utf8.size() && !IsSpace(utf8[end])) {
      ascii = ascii && kAscii[static_cast<unsigned char>(utf8[end])] != kBeyondAscii;
      ++end;
    }
    if (!ascii) {
      SegmentUnicode(utf8.substr(stretch, end - stretch), visit);
      i = end;
    }
    while (i < end) {
      int length = 0;
      for (; i < end; ++i) {
        const char folded = kAscii[static_cast<unsigned char>(utf8[i])];
        if (folded == 0) break;
        if (length < kMaxWordLength) word[length++] = folded;
      }
      if (length > 0) visit({word, static_cast<size_t>(length)});
      ++i;
    }
    i = end + 1;
  }
}

}  // namespace waymark
