// Pages of lists by the rules of AIP-158: size 0 is the default, more than the maximum is the maximum, a
// negative size is refused; a token is opaque, goes on after the last entry, and is bound to the arguments of
// its call: with others it is INVALID_ARGUMENT.
//
//   auto place = ReadListToken(request.page_token(), {"ListItems", request.parent(), request.filter()});
//   ... response->set_next_page_token(MakeListToken({.first = ordinal}, {"ListItems", ...}));
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace waymark {

inline constexpr int kDefaultListPage = 100;
inline constexpr int kMaxListPage = 1000;
// A page ends early before it grows over this, so that it fits the 4 MB that gRPC clients take by default.
inline constexpr size_t kMaxListPageBytes = 3 << 20;

// Where a list goes on. What the two numbers mean is the list's own.
struct ListPlace {
  uint64_t first = 0, second = 0;
  bool operator==(const ListPlace&) const = default;
};

using ListArguments = std::vector<std::string_view>;  // the method's name, then its arguments

absl::StatusOr<int> ReadPageSize(int32_t given, std::string_view field = "page_size");
std::string MakeListToken(const ListPlace& place, const ListArguments& arguments);
// The same for lists that are in the order of their ids: the last id that has been listed.
std::string MakeIdListToken(std::string_view last, const ListArguments& arguments);
// An empty token is the start, an empty id.
absl::StatusOr<std::string> ReadIdListToken(std::string_view token, const ListArguments& arguments);
// An empty token is the start, {0, 0}.
absl::StatusOr<ListPlace> ReadListToken(std::string_view token, const ListArguments& arguments);

}  // namespace waymark
