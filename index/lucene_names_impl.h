// Names and text of the Lucene++ segments; and the place where its exceptions become Status. Private to
// index/.
#pragma once
// LuceneHeaders.h must come first, as the order of names makes it.
#include <lucene++/LuceneHeaders.h>
#include <lucene++/NoLockFactory.h>
#include <lucene++/SegmentInfo.h>
#include <lucene++/SegmentInfos.h>
#include <lucene++/SegmentReader.h>
#include <lucene++/SerialMergeScheduler.h>
#include <lucene++/TermPositions.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "store/ids.h"

namespace waymark::lucene_impl {

// Every document has one term in the field "o": its item's ordinal, eight hexadecimal digits. Deletions go by
// it, and reading its postings gives every document's item at once.
inline const wchar_t* const kOrdinalField = L"o";
// Searched fields carry the schema's name behind this.
inline const wchar_t* const kTextFieldPrefix = L"f:";

inline std::array<char, 8> OrdinalBytes(ItemOrdinal item) {
  std::array<char, 8> text;
  for (size_t i = text.size(); i-- > 0; item >>= 4) text[i] = "0123456789abcdef"[item & 15];
  return text;
}
inline Lucene::String OrdinalText(ItemOrdinal item) {
  const std::array<char, 8> text = OrdinalBytes(item);
  return Lucene::String(text.begin(), text.end());
}
// kNoItem for text that OrdinalText never makes.
inline ItemOrdinal ParseOrdinal(const Lucene::String& text) {
  const std::string narrow(text.begin(), text.end());
  ItemOrdinal item = kNoItem;
  const auto end = std::from_chars(narrow.data(), narrow.data() + narrow.size(), item, 16);
  return end.ec == std::errc() && end.ptr == narrow.data() + narrow.size() ? item : kNoItem;
}

// As IndexWriter names them.
inline std::string SegmentName(int64_t number) {
  const Lucene::String text = Lucene::StringUtils::toString(number, Lucene::StringUtils::CHARACTER_MAX_RADIX);
  return "_" + std::string(text.begin(), text.end());
}

// Lucene++ keeps text as wchar_t, 32 bits each on the platforms that this is built for.
static_assert(sizeof(wchar_t) == 4);
inline Lucene::String Wide(std::string_view utf8) {
  return Lucene::StringUtils::toUnicode(std::string(utf8));
}
inline std::string Utf8(const Lucene::String& wide) { return Lucene::StringUtils::toUTF8(wide); }

// Runs `work`, which answers a Status or StatusOr; what Lucene++ or Boost throws becomes DATA_LOSS where it
// says that the index is damaged, else INTERNAL. An exception that nobody catches would end the process.
template <typename Work>
auto Guarded(std::string_view what, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Lucene::LuceneException& e) {
    const bool damaged = e.getType() == Lucene::LuceneException::CorruptIndex ||
                         e.getType() == Lucene::LuceneException::FileNotFound;
    const std::string message = absl::StrCat(std::string(what), ": Lucene++: ", Utf8(e.getError()));
    return damaged ? absl::DataLossError(message) : absl::InternalError(message);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat(std::string(what), ": ", e.what()));
  }
}

}  // namespace waymark::lucene_impl
