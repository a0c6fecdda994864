// A process that is killed between any two steps of an experiment: what it was answered is there.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/experiment/fixture.h"

namespace waymark::tests {
namespace {

std::unique_ptr<Store> OpenStore(const std::filesystem::path& data) {
  auto store = Store::Open(data, {.cache_bytes = 8 << 20});
  return store.ok() ? *std::move(store) : nullptr;
}

constexpr int kSteps = 9;

// One byte through the pipe after each step that was answered.
[[noreturn]] void RunSteps(const std::filesystem::path& data, int answers) {
  const auto store = OpenStore(data);
  if (store == nullptr) _exit(3);
  const Scope scope = *store->CreateCollection({});
  for (const char* id : {"r0", "r1"}) {
    storage::ReleaseRecord release;
    release.set_id(id);
    if (!store->PutRelease(scope, release).ok()) _exit(4);
  }
  auto experiments = *Experiments::Open(store.get(), scope, {});
  auto record = SmallExperiment("e");
  record.clear_ramp();
  for (const double step : {.5, 1.0}) record.add_ramp(step);
  const auto done = [&](bool ok) {
    if (!ok || write(answers, "x", 1) != 1) _exit(5);
  };
  const auto expose = [&](int from) {
    for (int i = from; i < from + 100; ++i) {
      const std::string user = std::to_string(i);
      const auto assigned = experiments->Assign({.user_id = user});
      for (const auto& arm : assigned.arms) {
        if (!experiments->RecordExposure(assigned, arm, {}).ok()) return false;
      }
    }
    return true;
  };
  const auto decide = [&](const Move& move) {
    return experiments->Decide("e", {move, "ann", "", "a test"}).ok();
  };
  done(experiments->Create(record, "ann").ok());
  done(decide({.action = Action::kStartShadow}));
  done(decide({.action = Action::kRamp}));
  done(expose(0));
  done(decide({.action = Action::kRamp}));
  done(expose(100));
  done(decide({.action = Action::kRelease, .winner = "new"}));
  done(experiments->AcknowledgeRelease(experiments->PendingReleases().at(0)).ok());
  done(experiments->Delete("e", "ann", 0).ok());
  pause();
  _exit(6);
}

}  // namespace

TEST_CASE("Killed after any step, an experiment goes on from there") {
  for (int steps = 1; steps <= kSteps; ++steps) {
    TemporaryFolder folder;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      RunSteps(folder.path() / "data", ends[1]);
    }
    close(ends[1]);
    char byte = 0;
    int answered = 0;
    while (answered < steps && read(ends[0], &byte, 1) == 1) ++answered;
    kill(child, SIGKILL);
    while (read(ends[0], &byte, 1) == 1) ++answered;  // answered before the kill came
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    INFO("after step " << answered);
    REQUIRE(WIFSIGNALED(status));

    const auto store = OpenStore(folder.path() / "data");
    REQUIRE(store != nullptr);
    const Scope scope = *store->FindCollection({});
    auto experiments = Experiments::Open(store.get(), scope, {});
    REQUIRE(experiments.ok());
    const auto record = (*experiments)->Get("e");
    if (answered == kSteps) {
      CHECK(absl::IsNotFound(record.status()));
      continue;
    }
    using storage::ExperimentRecord;
    constexpr auto kDraft = ExperimentRecord::DRAFT, kShadow = ExperimentRecord::SHADOW,
                   kRunning = ExperimentRecord::RUNNING, kReleased = ExperimentRecord::RELEASED;
    // [answered steps]
    const ExperimentRecord::State states[] = {kDraft,   kDraft,   kShadow,   kRunning,  kRunning,
                                              kRunning, kRunning, kReleased, kReleased, kReleased};
    // The step after the last answered one may be done as well.
    if (answered + 1 == kSteps && !record.ok()) continue;
    REQUIRE(record.ok());
    CHECK((record->state() == states[answered] || record->state() == states[answered + 1]));
    CHECK(record->decisions() == static_cast<int64_t>((*experiments)->Decisions("e").size()));
    if (answered >= 4) {
      const auto report = (*experiments)->Report("e");
      REQUIRE(report.ok());
      const int64_t units = report->evidence.units[0] + report->evidence.units[1];
      CHECK(units >= (answered >= 6 ? 100 : 30));
    }
    if (answered == 7 && record->release_pending()) CHECK((*experiments)->PendingReleases().size() == 1);
  }
}

}  // namespace waymark::tests
