// How many of the words of a query must be held.
//
//   MinimumMatch::Parse("75%")->Of(5)   // 3
#pragma once
#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"

namespace waymark {

class MinimumMatch {
 public:
  // "2", "75%" (rounded down), "-1" and "-25%" (may be missing); empty: says nothing. INVALID_ARGUMENT says
  // what is taken.
  static absl::StatusOr<MinimumMatch> Parse(std::string_view text);

  bool says_nothing() const { return kind_ == Kind::kNothing; }
  // Of so many words: at least 1, at most all of them. 0: says nothing.
  size_t Of(size_t words) const;

 private:
  enum class Kind { kNothing, kCount, kShare };
  Kind kind_ = Kind::kNothing;
  bool missing_ = false;  // so many may be missing
  size_t number_ = 0;
};

}  // namespace waymark
