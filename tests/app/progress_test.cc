#include "app/progress.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("progress tells count, rate, share and time left") {
  ProgressState state{.done = 12000, .unit = "rows", .fraction = 0.4, .note = "3 refused"};
  CHECK(ProgressText("import a.jsonl", state, absl::Seconds(4)) ==
        "import a.jsonl: 12,000 rows, 3,000 rows/s, 40%, 6 s left, 3 refused");
  state.fraction.reset();
  CHECK(ProgressText("import -", state, absl::Seconds(4)) ==
        "import -: 12,000 rows, 3,000 rows/s, 3 refused");
}

TEST_CASE("numbers and durations are written for people") {
  CHECK(WithThousands(0) == "0");
  CHECK(WithThousands(999) == "999");
  CHECK(WithThousands(1000) == "1,000");
  CHECK(WithThousands(-1234567) == "-1,234,567");
  CHECK(ShortDuration(absl::Seconds(59)) == "59 s");
  CHECK(ShortDuration(absl::Seconds(75)) == "1 min 15 s");
  CHECK(ShortDuration(absl::Seconds(7260)) == "2 h 1 min");
}

}  // namespace
}  // namespace waymark
