// Checkpoints damaged in many ways at once: each of the newest in another file or another way, so that one
// run has to pass over all of them.
#pragma once
#include <functional>
#include <set>

#include "tests/waymark_train/launched.h"

namespace waymark::tests {

enum class Damage { kFirstByte, kMiddleByte, kLastByte, kEmpty, kHalf, kWithoutLastByte };
inline constexpr Damage kDamages[] = {Damage::kFirstByte, Damage::kMiddleByte, Damage::kLastByte,
                                      Damage::kEmpty,     Damage::kHalf,       Damage::kWithoutLastByte};

inline void DamageFile(const std::filesystem::path& file, Damage damage) {
  std::string bytes = TextOf(file);
  REQUIRE(bytes.size() > 8);
  switch (damage) {
    case Damage::kFirstByte:
      bytes.front() ^= 1;
      break;
    case Damage::kMiddleByte:
      bytes[bytes.size() / 2] ^= 0x10;
      break;
    case Damage::kLastByte:
      bytes.back() ^= 1;
      break;
    case Damage::kEmpty:
      bytes.clear();
      break;
    case Damage::kHalf:
      bytes.resize(bytes.size() / 2);
      break;
    case Damage::kWithoutLastByte:
      bytes.pop_back();
      break;
  }
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

inline std::set<std::string> FilesIn(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

// command: of a run on two ranks, with these options beside its own. Damages what one leaves that stops after
// 30 steps, and goes on from there.
inline void ExpectDamageIsPassedOver(
    const TrainFolder& folder,
    const std::function<std::vector<std::string>(const std::vector<std::string>&)>& command) {
  using Catch::Matchers::Contains;
  folder.Train("straight", command({"--max-steps", "30", "--losses", folder / "straight"}));
  const std::vector<double> straight = folder.Losses("straight");
  REQUIRE(straight.size() == 30);
  folder.Train("first", command({"--checkpoints", folder / "checkpoints", "--checkpoint-interval", "0",
                                 "--keep-checkpoints", "100", "--max-steps", "30"}));
  const auto checkpoints = CheckpointsIn(folder / "checkpoints");
  const std::set<std::string> files = {"manifest.json", "manifest.json.sha256", "rank-00000.safetensors",
                                       "rank-00001.safetensors"};
  REQUIRE(checkpoints.size() > files.size() * std::size(kDamages));
  size_t at = checkpoints.size();
  std::vector<std::filesystem::path> damaged;
  for (const std::string& file : files) {
    for (Damage damage : kDamages) {
      const std::filesystem::path checkpoint = checkpoints[--at];
      REQUIRE(FilesIn(checkpoint) == files);
      DamageFile(checkpoint / file, damage);
      damaged.push_back(checkpoint);
    }
  }
  const std::filesystem::path whole = checkpoints[at - 1];
  const std::string step_text = whole.filename().string().substr(std::string("step-").size());
  const auto step = static_cast<size_t>(std::stoll(step_text));
  auto run = folder.Start(
      "run", command({"--max-steps", "30", "--losses", folder / "losses", "--checkpoints",
                      folder / "checkpoints", "--checkpoint-interval", "1000", "--keep-checkpoints", "100"}));
  const auto code = run->Wait(240);
  const std::string said = run->err();
  INFO(said);
  REQUIRE(code == 0);
  for (const std::filesystem::path& checkpoint : damaged) {
    CHECK_THAT(said, Contains("a damaged checkpoint is passed over: " + checkpoint.string()));
  }
  CHECK_THAT(said, Contains("goes on from " + whole.string()));
  const std::vector<double> losses = folder.Losses("losses");
  REQUIRE(losses.size() == straight.size() - step);
  for (size_t i = 0; i < losses.size(); ++i) CHECK(losses[i] == Approx(straight[step + i]).epsilon(1e-5));
  // Nothing whole is left: that is an error, not a start from nothing.
  for (const std::filesystem::path& checkpoint : CheckpointsIn(folder / "checkpoints")) {
    std::filesystem::resize_file(checkpoint / "rank-00001.safetensors", 7);
  }
  auto none = folder.Start("none", command({"--max-steps", "30", "--checkpoints", folder / "checkpoints"}));
  CHECK(none->Wait(120) == 1);
  CHECK_THAT(none->err(), Contains("no checkpoint is whole"));
}

}  // namespace waymark::tests
