#include "training/past/arm_filter.h"

#include "tests/store/fixture.h"
#include "training/recipe/recipe.h"

namespace waymark {
namespace {

using tests::StoreFixture;

class ArmsFixture : public StoreFixture {
 public:
  // Users u0..u9 with an event a second; u0, u2, ... in the control, u1, u3, ... in the new arm, from second
  // 5 on.
  ArmsFixture() {
    storage::ExperimentRecord record;
    record.set_id("x");
    for (const char* name : {"control", "new"}) record.add_arms()->set_name(name);
    REQUIRE(store_->PutExperiment(scope_, record, 0, nullptr).ok());
    for (int second = 0; second < 10; ++second) {
      for (int user = 0; user < 10; ++user) {
        Write({tests::Event(absl::StrCat("u", user), absl::StrCat("i", second), second)});
      }
    }
    for (int user = 0; user < 8; ++user) {
      storage::ExposureRecord exposure;
      exposure.set_experiment("x");
      exposure.set_unit(absl::StrCat("u:u", user));
      exposure.set_arm(user % 2);
      exposure.set_conflict(user == 6);
      exposure.set_time_us(
          absl::ToUnixMicros(absl::FromCivil(absl::CivilSecond(2024, 1, 1, 0, 0, 5), absl::UTCTimeZone())));
      REQUIRE(store_->PutExposures(scope_, {exposure}).ok());
    }
  }
  // Events that `arms` keep, by user.
  std::vector<int> Kept(const std::vector<ArmWeight>& arms) {
    const auto log = TrainingLog::Read(*store_, scope_, store_->End());
    REQUIRE(log.ok());
    const auto filter = ArmFilter::Read(*store_, scope_, arms);
    REQUIRE(filter.ok());
    std::vector<int> kept(10, 0);
    for (size_t u = 0; u < log->users.size(); ++u) {
      const std::string id = store_->GetUser(scope_, log->users[u])->id();
      for (const TrainingEvent& event : log->EventsOf(u)) {
        kept[static_cast<size_t>(id[1] - '0')] += filter->Keeps(log->users[u], event);
      }
    }
    return kept;
  }
};

TEST_CASE_METHOD(ArmsFixture,
                 "One arm alone: events of others count up to their exposure, and all of who was not in it") {
  CHECK(Kept({{"x", "new", 1}}) == std::vector<int>{5, 10, 5, 10, 5, 10, 5, 10, 10, 10});
  const auto filter = ArmFilter::Read(*store_, scope_, {{"x", "new", 1}});
  const UserNumber user = *store_->FindUser(scope_, "u1");
  const int64_t shown = store_->GetExposure(scope_, "x", "u:u1")->time_us();
  CHECK(filter->ArmOf(user, shown) == "x/new");
  CHECK(filter->ArmOf(user, shown - 1) == "");
}

TEST_CASE_METHOD(ArmsFixture, "Arms pooled with weights keep so large a share, the same each time") {
  const std::vector<int> kept = Kept({{"x", "new", 1}, {"x", "control", .4}});
  CHECK(kept[1] == 10);
  int control = 0;
  for (const int user : {0, 2, 4}) control += kept[static_cast<size_t>(user)] - 5;
  CHECK(control >= 1);
  CHECK(control <= 11);  // of 15, 6 are expected
  CHECK(Kept({{"x", "new", 1}, {"x", "control", .4}}) == kept);
}

TEST_CASE_METHOD(ArmsFixture, "What cannot be asked for is refused by name") {
  CHECK(absl::IsNotFound(ArmFilter::Read(*store_, scope_, {{"y", "new", 1}}).status()));
  CHECK(absl::IsInvalidArgument(ArmFilter::Read(*store_, scope_, {{"x", "newer", 1}}).status()));
  CHECK(ParseArmWeight("x/new=.25")->weight == .25);
  CHECK(ParseArmWeight("x/new")->Text() == "x/new=1");
  for (const char* text : {"x", "/new", "x/", "x/new=0", "x/new=2", "x/new=many"}) {
    CHECK(absl::IsInvalidArgument(ParseArmWeight(text).status()));
  }
}

}  // namespace
}  // namespace waymark
