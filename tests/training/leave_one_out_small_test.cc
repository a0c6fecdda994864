// The protocol itself, on histories small enough to follow by hand.
#include <limits>

#include "tests/support/catch.h"
#include "training/evaluation/leave_one_out.h"

namespace waymark {
namespace {

Interactions ThreeUsers() {
  Interactions interactions;
  interactions.AddUser(11, std::vector<ItemOrdinal>{0, 1, 2, 3}, std::vector<int64_t>{1, 2, 3, 4},
                       std::vector<LogOffset>{1, 2, 3, 4});
  interactions.AddUser(12, std::vector<ItemOrdinal>{5, 4, 5}, std::vector<int64_t>{1, 2, 3},
                       std::vector<LogOffset>{5, 6, 7});
  interactions.AddUser(13, std::vector<ItemOrdinal>{1, 2}, std::vector<int64_t>{1, 2},
                       std::vector<LogOffset>{8, 9});
  interactions.item_end = 9;  // 6, 7 and 8 occur nowhere
  return interactions;
}

absl::Status ByOrdinal(const RequestContext&, absl::Span<float> scores) {
  for (size_t item = 0; item < scores.size(); ++item) scores[item] = static_cast<float>(item);
  return absl::OkStatus();
}

TEST_CASE("the history is masked and items that occur nowhere are not in the catalogue") {
  auto result = LeaveOneOut(ThreeUsers(), {}, ByOrdinal);
  REQUIRE(result.ok());
  CHECK(result->users == std::vector<UserNumber>{11, 12});  // two events leave nothing to train on
  // User 11: 5 and 4 are before 3. User 12: its item 5 is in the history, so it is masked.
  CHECK(result->ranks == std::vector<double>{3, std::numeric_limits<double>::infinity()});
  CHECK(result->metrics.hit_rate() == Approx(0.5));
  CHECK(result->metrics.coverage() == Approx(1));
}

TEST_CASE("with repeats allowed a held-out item of the history is ranked") {
  LeaveOneOutOptions options;
  options.mask_history = false;
  auto result = LeaveOneOut(ThreeUsers(), options, ByOrdinal);
  REQUIRE(result.ok());
  CHECK(result->ranks == std::vector<double>{3, 1});
}

TEST_CASE("the validation target is the last but one, and its history ends before it") {
  LeaveOneOutOptions options;
  options.target = LeaveOneOutOptions::Target::kValidation;
  std::vector<size_t> lengths;
  auto result =
      LeaveOneOut(ThreeUsers(), options, [&](const RequestContext& context, absl::Span<float> scores) {
        lengths.push_back(context.history.size());
        return ByOrdinal(context, scores);
      });
  REQUIRE(result.ok());
  CHECK(lengths == std::vector<size_t>{2, 1});
  CHECK(result->ranks == std::vector<double>{4, 1});  // 2 behind 5, 4, 3; 4 with 5 masked
}

TEST_CASE("what is not listed shares the middle of the remaining places") {
  auto result = LeaveOneOut(ThreeUsers(), {}, [](const RequestContext&, absl::Span<float> scores) {
    scores[5] = 1;
    return absl::OkStatus();
  });
  REQUIRE(result.ok());
  CHECK(result->ranks[0] == 2.5);  // 5 first, then 3 and 4 tied
}

TEST_CASE("an evaluation stops when its progress says so") {
  LeaveOneOutOptions options;
  options.progress = [](size_t, size_t) { return false; };
  CHECK(LeaveOneOut(ThreeUsers(), options, ByOrdinal).status().code() == absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace waymark
