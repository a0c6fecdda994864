#include "index/minimum_match.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"

namespace waymark {

absl::StatusOr<MinimumMatch> MinimumMatch::Parse(std::string_view text) {
  MinimumMatch made;
  if (text.empty()) return made;
  std::string_view rest = text;
  made.missing_ = rest.starts_with('-');
  if (made.missing_) rest.remove_prefix(1);
  made.kind_ = rest.ends_with('%') ? Kind::kShare : Kind::kCount;
  if (made.kind_ == Kind::kShare) rest.remove_suffix(1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), made.number_);
  const size_t most = made.kind_ == Kind::kShare ? 100 : 1000;
  if (rest.empty() || error != std::errc() || end != rest.data() + rest.size() || made.number_ > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("minimum_match: is '", std::string(text.substr(0, 40)),
                     "'; it takes a number up to 1000 («2», «-1») or a share («75%», «-25%»)"));
  }
  return made;
}

size_t MinimumMatch::Of(size_t words) const {
  if (kind_ == Kind::kNothing || words == 0) return 0;
  size_t number = kind_ == Kind::kShare ? words * number_ / 100 : number_;
  if (missing_) number = words - std::min(number, words);
  return std::clamp<size_t>(number, 1, words);
}

}  // namespace waymark
