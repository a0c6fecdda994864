// Trained models from packages to answers: releases are activated and taken back while requests run, and what
// does not fit is refused without touching what serves.
#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/end_to_end/open_engine.h"
#include "training/train.h"

namespace waymark::tests {
namespace {

constexpr int kFilms = 40;

// Everybody walks along a ring of films, one film a day, as an import says it.
void PutWalks(Collection* collection) {
  std::vector<Mutation> mutations;
  for (int i = 0; i < kFilms; ++i) {
    mutations.push_back(Film("f" + std::to_string(i), "Film number" + std::to_string(i), "Drama", i));
  }
  for (int user = 0; user < 150; ++user) {
    for (int step = 0; step < 14; ++step) {
      WriteEvent event = View("u" + std::to_string(user), "f" + std::to_string((user + 3 * step) % kFilms));
      event.time = absl::FromUnixSeconds(1600000000 + 86400 * step + 60 * user);
      event.received_time = event.time;
      mutations.push_back(event);
    }
  }
  MustWrite(collection, std::move(mutations));
}

TrainOutput MustTrain(OpenEngine* engine, Collection* films, uint64_t seed) {
  TrainOptions options;
  options.work_folder = engine->folder() / ("train" + std::to_string(seed));
  options.version = "v" + std::to_string(seed);
  options.seed = seed;
  auto trained = Train({&(*engine)->store(), films->scope(), &films->catalog(), nullptr}, options,
                       [](const TrainProgress&) {}, {});
  if (!trained.ok()) FAIL(std::string(trained.status().message()));
  return *std::move(trained);
}

void MustImport(Collection* films, const ModelPackage& package) {
  auto record = films->ImportModel(package.folder);
  if (!record.ok()) FAIL(std::string(record.status().message()));
}

std::string MustRelease(Collection* films, const std::string& retriever, const std::string& ranker) {
  storage::ReleaseRecord record;
  record.set_retriever_version(retriever);
  record.set_ranker_version(ranker);
  auto release = films->CreateRelease(record);
  if (!release.ok()) FAIL(std::string(release.status().message()));
  return release->id();
}

std::string Read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
void Write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

TEST_CASE("releases of trained models: refused where they do not fit, swapped and taken back under load") {
  const FixedClock clock(
      absl::Now());  // what is popular fades, and with it what is all but tied changes places
  OpenEngine engine({.clock = &clock});
  Collection* films = engine.In();
  PutWalks(films);
  REQUIRE(films->CatchUp(Deadline::Never()).ok());
  CHECK(films->Run(FeedOf("u1"), Deadline::Never())->ranker == "weighted-sum");

  const TrainOutput one = MustTrain(&engine, films, 1), two = MustTrain(&engine, films, 2);
  for (const TrainOutput* trained : {&one, &two}) {
    MustImport(films, *trained->models.retriever);
    MustImport(films, *trained->models.ranker);
  }
  MustImport(films, *one.models.ranker);  // again: the one that is there

  SECTION("a ranker beside another retriever is refused, with both named") {
    storage::ReleaseRecord mixed;
    mixed.set_retriever_version("v1");
    mixed.set_ranker_version("v2");
    const absl::Status status = films->CreateRelease(mixed).status();
    CHECK(absl::IsFailedPrecondition(status));
    CHECK_THAT(std::string(status.message()), Catch::Contains("SHA-256"));
    CHECK(films->active_release().empty());
  }
  SECTION("a network that does not fit its weights is refused before it is registered") {
    for (const ModelPackage* package : {&*one.models.retriever, &*one.models.ranker}) {
      const std::filesystem::path copy = engine.folder() / "copy";
      std::filesystem::remove_all(copy);
      std::filesystem::copy(package->folder, copy, std::filesystem::copy_options::recursive);
      std::string manifest = Read(copy / "manifest.json");
      const auto replace = [&](const std::string& name, char value) {
        const size_t key = manifest.find("\"" + name + "\"");
        REQUIRE(key != std::string::npos);
        const size_t digit = manifest.find_first_of("0123456789", key + name.size() + 2);
        manifest[digit] = value;
      };
      replace("width", '8');
      const size_t version = manifest.find("\"v1\"");
      REQUIRE(version != std::string::npos);
      manifest[version + 2] = '7';
      Write(copy / "manifest.json", manifest);
      CHECK_FALSE(films->ImportModel(copy).ok());
      const auto& store = engine->store();
      CHECK(absl::IsNotFound(store.GetModel(films->scope(), package->manifest.kind(), "v7").status()));
    }
  }
  SECTION("a damaged package is named, and does not take the place of what serves") {
    const std::string good = MustRelease(films, "v1", "v1"), bad = MustRelease(films, "v2", "v2");
    REQUIRE(films->ActivateRelease(good, "first").ok());
    const auto record = engine->store().GetModel(films->scope(), "ranker", "v2");
    REQUIRE(record.ok());
    const std::filesystem::path weights = engine.folder() / record->folder() / "weights.safetensors";
    std::string bytes = Read(weights);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    Write(weights, bytes);
    const auto differing = films->VerifyModel("ranker", "v2");
    REQUIRE(differing.ok());
    REQUIRE(differing->size() == 1);
    CHECK_THAT(differing->front(), Catch::Contains("weights.safetensors"));
    CHECK_FALSE(films->ActivateRelease(bad, "second").ok());
    CHECK(films->active_release() == good);
    CHECK(films->Run(FeedOf("u1"), Deadline::Never())->release == good);
  }
  SECTION("what served before stays ready: a roll-back loads nothing") {
    const std::string first = MustRelease(films, "v1", "v1"), second = MustRelease(films, "v2", "v2");
    REQUIRE(films->ActivateRelease(first, "first").ok());
    REQUIRE(films->ActivateRelease(second, "second").ok());
    for (const char* kind : {"retriever", "ranker"}) {
      const auto record = engine->store().GetModel(films->scope(), kind, "v1");
      REQUIRE(record.ok());
      std::filesystem::remove_all(engine.folder() / record->folder());
    }
    const auto back = films->RollbackRelease("worse");
    REQUIRE(back.ok());
    CHECK(*back == first);
    const auto answer = films->Run(FeedOf("u1"), Deadline::Never());
    REQUIRE(answer.ok());
    CHECK(answer->release == first);
    CHECK(answer->ranker == "v1");
    CHECK_FALSE(answer->items.empty());
  }
  SECTION("before it serves, a release is looked at: files, features, a warm-up, offline metrics") {
    const std::string first = MustRelease(films, "v1", "v1"), second = MustRelease(films, "v2", "v2");
    REQUIRE(films->ActivateRelease(first, "first").ok());
    const auto checks = films->CheckRelease(second, 1);
    REQUIRE(checks.ok());
    std::vector<std::string> names;
    for (const ReleaseCheck& check : *checks) {
      INFO(check.name << ": " << check.detail);
      CHECK(check.holds);
      names.push_back(check.name);
    }
    CHECK(names == std::vector<std::string>{"packages", "features", "warm_up", "offline_metrics"});
    CHECK_THAT(checks->back().detail, Catch::Contains("validation_ndcg_at_10"));
    CHECK_THAT(checks->back().detail, !Catch::Contains("validation_lists"));  // a count is no quality
    CHECK(films->active_release() == first);
    // Of two releases one is the worse by some metric, however little, unless all are equal.
    REQUIRE(films->ActivateRelease(second, "second").ok());
    CHECK(films->CheckRelease(second, 0)->back().holds);  // against itself
    CHECK(absl::IsNotFound(films->CheckRelease("none", 1).status()));
    const auto record = engine->store().GetModel(films->scope(), "ranker", "v1");
    const std::filesystem::path weights = engine.folder() / record->folder() / "weights.safetensors";
    std::string bytes = Read(weights);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    Write(weights, bytes);
    const auto damaged = films->CheckRelease(first, 1);
    REQUIRE(damaged.ok());
    CHECK_FALSE(damaged->front().holds);
    CHECK(damaged->front().fatal);
    CHECK_THAT(damaged->front().detail, Catch::Contains("weights.safetensors"));
  }
  SECTION("two arms with retrievers of their own answer side by side, each as it does alone") {
    const std::string releases[] = {MustRelease(films, "v1", "v1"), MustRelease(films, "v2", "v2")};
    std::vector<std::string> alone[2];
    for (const int arm : {1, 0}) {
      REQUIRE(films->ActivateRelease(releases[arm], "alone").ok());
      for (int user = 0; user < 20; ++user) {
        for (const std::string& id : Ids(films, FeedOf("u" + std::to_string(user)))) alone[arm].push_back(id);
      }
    }
    CHECK(alone[0] != alone[1]);
    REQUIRE(films->KeepReleases({releases[1]}).empty());
    std::atomic<int> wrong{0};
    std::vector<std::string> beside[2];
    std::vector<std::thread> clients;
    for (const int arm : {0, 1}) {
      clients.emplace_back([&, arm] {
        for (int user = 0; user < 20; ++user) {
          PipelineRequest request = FeedOf("u" + std::to_string(user));
          if (arm == 1) request.arm_release = releases[1];
          const auto answer = films->Run(request, Deadline::Never());
          const std::string version = arm == 0 ? "v1" : "v2";
          if (!answer.ok() || answer->release != releases[arm] || answer->retriever != version ||
              answer->ranker != version) {
            ++wrong;
            continue;
          }
          for (const RankedItem& item : answer->items) beside[arm].push_back(item.record.id());
        }
      });
    }
    for (std::thread& client : clients) client.join();
    CHECK(wrong == 0);
    CHECK(beside[0] == alone[0]);
    CHECK(beside[1] == alone[1]);
  }
  SECTION("no request fails while releases come and go, and each names one of them") {
    const std::string releases[] = {MustRelease(films, "v1", "v1"), MustRelease(films, "v2", "v2")};
    REQUIRE(films->ActivateRelease(releases[0], "first").ok());
    std::atomic<bool> stop{false};
    std::atomic<int> answered{0}, failed{0}, unnamed{0};
    std::atomic<int> of_second{0};
    std::vector<std::thread> clients;
    for (int t = 0; t < 4; ++t) {
      clients.emplace_back([&, t] {
        for (int n = 0; !stop; ++n) {
          const PipelineRequest request =
              n % 2 ? SearchFor("film") : FeedOf("u" + std::to_string((t + n) % 150));
          const auto answer = films->Run(request, Deadline::Never());
          if (!answer.ok() || answer->items.empty()) {
            ++failed;
            continue;
          }
          ++answered;
          if (answer->release == releases[1]) ++of_second;
          if (answer->release != releases[0] && answer->release != releases[1]) ++unnamed;
          if (answer->ranker != (answer->release == releases[0] ? "v1" : "v2")) ++unnamed;
        }
      });
    }
    for (int n = 0; n < 100; ++n) {
      REQUIRE(films->ActivateRelease(releases[1], "forth").ok());
      auto back = films->RollbackRelease("and back");
      REQUIRE(back.ok());
      CHECK(*back == releases[0]);
    }
    stop = true;
    for (std::thread& client : clients) client.join();
    CHECK(failed == 0);
    CHECK(unnamed == 0);
    CHECK(answered > 100);
    CHECK(of_second > 0);
    engine.Reopen();  // what was active is active again
    CHECK(engine.In()->active_release() == releases[0]);
    CHECK(engine.In()->Run(FeedOf("u1"), Deadline::Never())->release == releases[0]);
  }
}

}  // namespace
}  // namespace waymark::tests
