#include "suggest/followed_searches.h"

#include <string>

#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

TEST_CASE("a search and what follows it are paired, whichever is known first") {
  FollowedSearches followed;
  CHECK_FALSE(followed.Served("r1", "heat", 7));
  const auto search = followed.Followed("r1");
  REQUIRE(search.has_value());
  CHECK(search->query == "heat");
  CHECK(search->user == 7);
  CHECK_FALSE(followed.Followed("r2").has_value());
  CHECK(followed.Served("r2", "star wars", 8));
  CHECK(followed.Followed("r2")->query == "star wars");
}

TEST_CASE("of an erased user no search is kept, and the oldest go where there are many") {
  FollowedSearches followed;
  followed.Served("r1", "secret", 7);
  followed.Served("r2", "heat", 8);
  const UserNumber gone[] = {7};
  followed.Forget(gone);
  CHECK_FALSE(followed.Followed("r1").has_value());
  CHECK(followed.Followed("r2").has_value());
  for (size_t i = 0; i < FollowedSearches::kMost; ++i) followed.Served("more" + std::to_string(i), "q", 1);
  CHECK_FALSE(followed.Followed("r2").has_value());
  CHECK(followed.Followed("more0").has_value());
  for (size_t i = 0; i < FollowedSearches::kMost; ++i) followed.Followed("waits" + std::to_string(i));
  CHECK_FALSE(followed.Served("r1", "heat", 8));  // had waited, for too long
  CHECK(followed.Served("waits0", "heat", 8));
}

}  // namespace
}  // namespace waymark::tests
