#include "index/word_segmenter.h"

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/edits.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "index/letters.h"

namespace waymark {
namespace {

using Visit = absl::FunctionRef<void(std::string_view)>;
// With the UTF-16 units of the folded text that the word is.
using VisitSpan = absl::FunctionRef<void(std::string_view, int32_t begin, int32_t end)>;

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

void VisitWord(const icu::UnicodeString& text, int32_t begin, int32_t end, VisitSpan visit) {
  icu::UnicodeString word = text.tempSubStringBetween(begin, end);
  if (word.countChar32() > kMaxWordLength) word.truncate(word.moveIndex32(0, kMaxWordLength));
  std::string utf8;
  word.toUTF8String(utf8);
  if (!utf8.empty()) visit(utf8, begin, end);
}

void VisitRun(const icu::UnicodeString& text, int32_t from, int32_t to, bool dictionary, VisitSpan visit) {
  icu::BreakIterator* breaks = dictionary ? WordBreaks() : nullptr;
  if (breaks == nullptr) return VisitWord(text, from, to, visit);
  const icu::UnicodeString run = text.tempSubStringBetween(from, to);
  breaks->setText(run);
  for (int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks->next()) {
    VisitWord(text, from + begin, from + end, visit);
  }
}

void VisitFolded(const icu::UnicodeString& text, VisitSpan visit) {
  int32_t begin = -1;  // of the run; -1: between runs
  bool dictionary = false;
  for (int32_t i = 0; i < text.length();) {
    const UChar32 c = text.char32At(i);
    if (begin < 0 ? StartsWord(c) : ContinuesWord(c)) {
      if (begin < 0) begin = i, dictionary = false;
      dictionary = dictionary || WrittenWithoutSpaces(c);
    } else if (begin >= 0) {
      VisitRun(text, begin, i, dictionary, visit);
      begin = -1;
    }
    i = text.moveIndex32(i, 1);
  }
  if (begin >= 0) VisitRun(text, begin, text.length(), dictionary, visit);
}

const icu::Normalizer2* Folding() {
  UErrorCode error = U_ZERO_ERROR;
  static const icu::Normalizer2* const folding = icu::Normalizer2::getNFKCCasefoldInstance(error);
  return folding;
}

// A stretch without spaces that holds something beyond ASCII.
void SegmentUnicode(std::string_view utf8, Visit visit) {
  const icu::UnicodeString raw =
      icu::UnicodeString::fromUTF8(icu::StringPiece(utf8.data(), static_cast<int32_t>(utf8.size())));
  icu::UnicodeString text;
  UErrorCode folded = Folding() == nullptr ? U_INTERNAL_PROGRAM_ERROR : U_ZERO_ERROR;
  if (Folding() != nullptr) text = Folding()->normalize(raw, folded);
  if (U_FAILURE(folded)) text = icu::UnicodeString(raw).foldCase();
  VisitFolded(text, [&](std::string_view word, int32_t, int32_t) { visit(word); });
}

using VisitBytes = absl::FunctionRef<void(std::string_view word, size_t begin, size_t end)>;

// The same with bytes of the stretch; the whole of it where they cannot be told.
void SegmentUnicodeSpans(std::string_view utf8, VisitBytes visit) {
  std::string folded;
  icu::Edits edits;
  UErrorCode error = Folding() == nullptr ? U_INTERNAL_PROGRAM_ERROR : U_ZERO_ERROR;
  if (Folding() != nullptr) {
    icu::StringByteSink<std::string> sink(&folded);
    Folding()->normalizeUTF8(0, icu::StringPiece(utf8.data(), static_cast<int32_t>(utf8.size())), sink,
                             &edits, error);
  }
  const icu::UnicodeString text =
      icu::UnicodeString::fromUTF8(icu::StringPiece(folded.data(), static_cast<int32_t>(folded.size())));
  std::vector<int32_t> bytes(static_cast<size_t>(text.length()) + 1);  // of `folded` before each unit
  int32_t at = 0;
  for (int32_t i = 0; i < text.length(); ++i) {
    const UChar32 c = text.char32At(i);
    bytes[static_cast<size_t>(i)] = at;
    // The second unit of a surrogate pair is never the border of a word.
    if (!U16_IS_TRAIL(text.charAt(i))) at += U8_LENGTH(c);
  }
  bytes.back() = at;
  if (U_FAILURE(error) || at != static_cast<int32_t>(folded.size())) {  // no UTF-8
    return SegmentUnicode(utf8, [&](std::string_view word) { visit(word, 0, utf8.size()); });
  }
  icu::Edits::Iterator edit = edits.getFineIterator();
  VisitFolded(text, [&](std::string_view word, int32_t begin, int32_t end) {
    UErrorCode found = U_ZERO_ERROR;
    const int32_t first = bytes[static_cast<size_t>(begin)], last = bytes[static_cast<size_t>(end)];
    int32_t from = edit.sourceIndexFromDestinationIndex(first, found);
    // Inside of what one letter became, the letter counts as a whole.
    if (edit.findDestinationIndex(first, found) && edit.hasChange()) from = edit.sourceIndex();
    const int32_t to = edit.sourceIndexFromDestinationIndex(last, found);
    visit(word, static_cast<size_t>(from), static_cast<size_t>(std::max(from, to)));
  });
}

template <class Ascii, class Unicode>
void Segment(std::string_view utf8, Ascii ascii_word, Unicode unicode_stretch) {
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
      unicode_stretch(stretch, end);
      i = end;
    }
    while (i < end) {
      size_t length = 0;
      const size_t begin = i;
      for (; i < end; ++i) {
        const char folded = kAscii[static_cast<unsigned char>(utf8[i])];
        if (folded == 0) break;
        if (length < kMaxWordLength) word[length++] = folded;
      }
      if (length > 0) ascii_word(std::string_view(word, length), begin, i);
      ++i;
    }
    i = end + 1;
  }
}

}  // namespace

void SegmentWords(std::string_view utf8, Visit visit) {
  Segment(
      utf8, [&](std::string_view word, size_t, size_t) { visit(word); },
      [&](size_t begin, size_t end) { SegmentUnicode(utf8.substr(begin, end - begin), visit); });
}

void SegmentWordSpans(std::string_view utf8, VisitBytes visit) {
  Segment(utf8, visit, [&](size_t stretch, size_t stretch_end) {
    SegmentUnicodeSpans(utf8.substr(stretch, stretch_end - stretch),
                        [&](std::string_view word, size_t begin, size_t end) {
                          visit(word, stretch + begin, stretch + end);
                        });
  });
}

}  // namespace waymark
