#include "serving/list_page.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

// A token holds version, hash of the arguments, place, check of all before; then web-safe base64.
constexpr uint64_t kVersion = 1;
using TokenWords = std::array<uint64_t, 5>;

uint64_t HashOf(const ListArguments& arguments) {
  std::string text;
  for (std::string_view argument : arguments)
    absl::StrAppend(&text, argument.size(), ":", std::string(argument));
  return XXH3_64bits(text.data(), text.size());
}

uint64_t CheckOf(const TokenWords& words) { return XXH3_64bits(words.data(), sizeof(uint64_t) * 4); }

absl::Status WrongToken(std::string_view message) {
  return WithReason(InvalidField("page_token", message), "PAGE_TOKEN_INVALID");
}

}  // namespace

absl::StatusOr<int> ReadPageSize(int32_t given, std::string_view field) {
  if (given < 0) {
    return InvalidField(field, absl::StrCat("is ", given, "; it takes 0 (which means ", kDefaultListPage,
                                            ") or more (over ", kMaxListPage, " means that)"));
  }
  return given == 0 ? kDefaultListPage : std::min<int>(given, kMaxListPage);
}

std::string MakeListToken(const ListPlace& place, const ListArguments& arguments) {
  TokenWords words = {kVersion, HashOf(arguments), place.first, place.second, 0};
  words[4] = CheckOf(words);
  std::string bytes(sizeof(words), '\0');
  std::memcpy(bytes.data(), words.data(), sizeof(words));
  return absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<ListPlace> ReadListToken(std::string_view token, const ListArguments& arguments) {
  if (token.empty()) return ListPlace();
  std::string bytes;
  TokenWords words;
  if (!absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &bytes) ||
      bytes.size() != sizeof(words)) {
    return WrongToken("is not a token of this service; send the next_page_token of the page before");
  }
  std::memcpy(words.data(), bytes.data(), sizeof(words));
  if (words[0] != kVersion || words[4] != CheckOf(words)) {
    return WrongToken("is not a token of this service; send the next_page_token of the page before");
  }
  if (words[1] != HashOf(arguments)) {
    return WrongToken("belongs to a call with other arguments; only page_size may change between pages");
  }
  return ListPlace{words[2], words[3]};
}

std::string MakeIdListToken(std::string_view last, const ListArguments& arguments) {
  // Hash of the arguments, check of hash and id, id.
  std::array<uint64_t, 2> head = {HashOf(arguments), 0};
  head[1] = XXH3_64bits_withSeed(last.data(), last.size(), head[0]);
  std::string bytes(sizeof(head), '\0');
  std::memcpy(bytes.data(), head.data(), sizeof(head));
  return absl::WebSafeBase64Escape(bytes.append(last));
}

absl::StatusOr<std::string> ReadIdListToken(std::string_view token, const ListArguments& arguments) {
  if (token.empty()) return std::string();
  std::string bytes;
  std::array<uint64_t, 2> head;
  const bool read = absl::WebSafeBase64Unescape(absl::string_view(token.data(), token.size()), &bytes) &&
                    bytes.size() > sizeof(head);
  if (read) std::memcpy(head.data(), bytes.data(), sizeof(head));
  const std::string last = read ? bytes.substr(sizeof(head)) : std::string();
  if (!read || head[1] != XXH3_64bits_withSeed(last.data(), last.size(), head[0])) {
    return WrongToken("is not a token of this service; send the next_page_token of the page before");
  }
  if (head[0] != HashOf(arguments)) {
    return WrongToken("belongs to a call with other arguments; only page_size may change between pages");
  }
  return last;
}

}  // namespace waymark
