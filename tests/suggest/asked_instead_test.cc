#include "suggest/asked_instead.h"

#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

TEST_CASE("what most people asked of what is nearly the same was meant") {
  QueryList queries;
  queries.list = CompletionList::Build({{"star wars", 50, 0},
                                        {"star wart", 3, 0},
                                        {"star trek", 40, 0},
                                        {"star", 9, 0},
                                        {"book shelf", 5, 0}});
  const auto instead = [&](const char* query) { return AskedInstead(queries, query, Deadline::Never()); };
  CHECK(instead("star warz") == "star wars");
  CHECK(instead("Star  Trke") == "star trek");
  CHECK(instead("bookshelf") == "book shelf");  // a missing blank
  CHECK(instead("star wart").empty());          // others asked just this
  CHECK(instead("star wars ii").empty());
  CHECK(instead("sta").empty());  // begins so, and is not nearly the same
  CHECK(instead("heist").empty());
  CHECK(instead("").empty());
  CHECK(AskedInstead(QueryList(), "star warz", Deadline::Never()).empty());
}

}  // namespace
}  // namespace waymark::tests
