// What is derived is kept after so many changes, so that a start after a crash has few to replay.
#include <algorithm>
#include <thread>

#include "tests/end_to_end/open_engine.h"

namespace waymark::tests {
namespace {

constexpr int64_t kChanges = 40;

TEST_CASE(
    "after so many changes a crash leaves at most as many to replay, without waiting for the interval") {
  EngineOptions options;
  options.checkpoint = {absl::InfiniteDuration(), kChanges};
  options.index_refresh_interval = absl::Hours(1);  // no file of the folder moves by itself
  OpenEngine engine(options);
  Collection* films = engine.In();
  const auto put = [&](int i) {
    MustWrite(films, {Film("f" + std::to_string(i), "Film number" + std::to_string(i), "Drama", i)});
  };
  for (int i = 0; i < 95; ++i) put(i);
  // The last checkpoint is done when fewer are left than bring one about.
  absl::Time until = absl::Now() + absl::Seconds(60);
  while (films->status().changes_to_keep >= kChanges && absl::Now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const int64_t left = films->status().changes_to_keep;
  REQUIRE(left < kChanges);
  // One change less than brings the next about: 1 deletion and so many films.
  const int64_t more = kChanges - 2 - left;
  for (int i = 0; i < more; ++i) put(200 + i);
  if (more >= 0) MustWrite(films, {DeleteItem{"f0"}});
  const int64_t gone = more >= 0 ? 1 : 0;

  // The folder as a crash leaves it: the copy is made while the engine has it open.
  const std::filesystem::path crashed = engine.folder().string() + "-crashed";
  std::filesystem::remove_all(crashed);
  std::filesystem::copy(engine.folder(), crashed, std::filesystem::copy_options::recursive);
  {
    auto again = Engine::Open(crashed, options);
    REQUIRE(again.status() == absl::OkStatus());
    Collection* same = *(*again)->OpenCollection({}, false);
    CHECK(same->catalog().replayed_changes() < kChanges);
    CHECK(same->catalog().replayed_changes() >= more + gone);
    CHECK(same->catalog().rebuild_reason().empty());
    CHECK(same->catalog().live_count() == 95 + std::max<int64_t>(more, 0) - gone);
    REQUIRE(same->CatchUp(Deadline::Never()).ok());
    CHECK(Ids(same, SearchFor("number94")) == std::vector<std::string>{"f94"});
    CHECK(Ids(same, SearchFor("number0")).size() == static_cast<size_t>(1 - gone));
  }
  std::filesystem::remove_all(crashed);
}

}  // namespace
}  // namespace waymark::tests
