// Whether bytes are UTF-8 text (RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF).
#pragma once
#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace waymark {

// Where the first byte stands that is no UTF-8; npos when all is.
size_t FindInvalidUtf8(absl::string_view text);

// For messages: at most `max_bytes` of it, in quotes, with what cannot be printed escaped.
std::string Quoted(absl::string_view text, size_t max_bytes = 60);

}  // namespace waymark
