// Checkpoints of two ranks, which here are two threads over Gloo, and what is found of damage in their files.
#include "training/distributed/sharded_checkpoint.h"

#include <thread>

#include "tests/shards/written_shards.h"
#include "tests/support/damage.h"
#include "tests/support/free_port.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

constexpr int64_t kItems = 7, kWidth = 3;

// A model's tensors whose numbers are known: `first` and up.
struct Tensors {
  at::Tensor dense, ids;
  RowShare share;

  Tensors(float first, RowShare of)
      : dense(at::arange(5, at::kFloat).add_(first)),
        ids(at::arange(kItems * kWidth, at::kFloat).add_(first).view({kItems, kWidth})),
        share(of) {
    if (share.stride > 1) ids = ids.slice(0, share.first, kItems, share.stride).clone();
  }
  std::vector<CheckpointTensor> List() {
    return {{"dense", &dense, {5}, {}}, {"id", &ids, {kItems, kWidth}, share}};
  }
};

TrainingPlace PlaceOf(int64_t step) {
  TrainingPlace place;
  place.step = step;
  place.loss_sum = 0.1 * static_cast<double>(step);
  place.losses = {1.25, 0.5};
  return place;
}

// Steps 10 and 20, as two ranks that share the rows of the table write them.
void WriteTwo(const std::filesystem::path& folder) {
  const auto run = [&](int rank, int port) {
    LaunchPlace place;
    place.rank = rank;
    place.world_size = 2;
    place.host = "127.0.0.1";
    place.port = port;
    auto group = RankGroup::Make(place, {"gloo", absl::Seconds(20)});
    if (!group.ok()) return group.status();
    ShardedCheckpoints checkpoints(folder, 3, "these options", group->get());
    for (int64_t step : {10, 20}) {
      Tensors tensors(static_cast<float>(100 * step), {rank, 2});
      absl::Status status = checkpoints.Begin(tensors.List(), PlaceOf(step));
      if (status.ok()) status = checkpoints.Publish();
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  };
  const int port = FreePort();
  absl::Status other;
  std::thread second([&] { other = run(1, port); });
  const absl::Status first = run(0, port);
  second.join();
  REQUIRE(first == absl::OkStatus());
  REQUIRE(other == absl::OkStatus());
}

absl::StatusOr<std::optional<ShardedCheckpoints::Loaded>> LoadAlone(const std::filesystem::path& folder,
                                                                    Tensors* tensors) {
  auto alone = RankGroup::Make({}, {});
  if (!alone.ok()) return alone.status();
  return ShardedCheckpoints(folder, 3, "these options", alone->get()).LoadNewest(tensors->List());
}

TEST_CASE("A damaged byte anywhere in any file of a checkpoint is found, and the one before is read") {
  const ShardFolder folder("waymark-checkpoints");
  WriteTwo(folder / "written");
  {
    Tensors tensors(0, {});
    const auto loaded = LoadAlone(folder / "written", &tensors);
    REQUIRE(loaded.ok());
    REQUIRE(loaded->has_value());
    CHECK((*loaded)->place.step == 20);
    CHECK((*loaded)->ranks == 2);
    CHECK((*loaded)->refused.empty());
    CHECK(at::equal(tensors.dense, Tensors(2000, {}).dense));
    CHECK(at::equal(tensors.ids, Tensors(2000, {}).ids));
  }
  const std::string newest = "step-000000000020";
  const std::vector<std::string> files = FilesBelow(folder / ("written/" + newest));
  REQUIRE(files == std::vector<std::string>{"manifest.json", "manifest.json.sha256", "rank-00000.safetensors",
                                            "rank-00001.safetensors"});
  for (const std::string& name : files) {
    const auto size = std::filesystem::file_size(folder / ("written/" + newest) / name);
    for (const Damage& damage : SpreadDamages(size)) {
      INFO(name << (damage.cut ? " cut at " : " changed at ") << damage.at);
      CopyOver(folder / "written", folder / "damaged");
      Apply(damage, folder / ("damaged/" + newest) / name);
      Tensors tensors(0, {});
      const auto loaded = LoadAlone(folder / "damaged", &tensors);
      REQUIRE(loaded.ok());
      REQUIRE(loaded->has_value());
      CHECK((*loaded)->place.step == 10);
      REQUIRE((*loaded)->refused.size() == 1);
      CHECK_THAT((*loaded)->refused[0], Contains(newest) && Contains(name.substr(0, name.find(".sha256"))));
      CHECK(at::equal(tensors.dense, Tensors(1000, {}).dense));
      CHECK(at::equal(tensors.ids, Tensors(1000, {}).ids));
    }
  }
}

}  // namespace
}  // namespace waymark
