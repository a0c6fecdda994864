#include <rocksdb/db.h>

#include <atomic>
#include <thread>

#include "tests/store/fixture.h"

namespace waymark::tests {
namespace {

storage::ExperimentRecord Experiment(const std::string& id) {
  storage::ExperimentRecord record;
  record.set_id(id);
  return record;
}
storage::DecisionRecord Decision(const std::string& action) {
  storage::DecisionRecord decision;
  decision.set_action(action);
  return decision;
}
storage::ExposureRecord Exposure(const std::string& experiment, const std::string& unit, int arm) {
  storage::ExposureRecord exposure;
  exposure.set_experiment(experiment);
  exposure.set_unit(unit);
  exposure.set_arm(arm);
  return exposure;
}

}  // namespace

TEST_CASE("an experiment is written on top of the revision that was read, with its decision") {
  StoreFixture f;
  const auto create = Decision("create"), start = Decision("start");
  auto made = f.store_->PutExperiment(f.scope_, Experiment("one"), 0, &create);
  REQUIRE(made.ok());
  CHECK(made->revision() == 1);
  CHECK(absl::IsAlreadyExists(f.store_->PutExperiment(f.scope_, Experiment("one"), 0, &create).status()));
  made->set_coverage(.1);
  REQUIRE(f.store_->PutExperiment(f.scope_, *made, 1, &start).ok());
  CHECK(absl::IsAborted(f.store_->PutExperiment(f.scope_, *made, 1, &start).status()));
  CHECK(absl::IsAborted(f.store_->PutExperiment(f.scope_, Experiment("none"), 3, nullptr).status()));
  CHECK(absl::IsInvalidArgument(f.store_->PutExperiment(f.scope_, Experiment(""), 0, nullptr).status()));
  f.Reopen();
  CHECK(f.store_->GetExperiment(f.scope_, "one")->coverage() == .1);
  CHECK(f.store_->GetExperiment(f.scope_, "one")->decisions() == 2);
  const auto decisions = f.store_->Decisions(f.scope_, "one");
  REQUIRE(decisions.size() == 2);
  CHECK(decisions[0].action() == "create");
  CHECK(decisions[1].sequence() == 2);
  CHECK(f.store_->Experiments(f.scope_).size() == 1);
}

TEST_CASE("of decisions at the same time, one is taken") {
  StoreFixture f;
  REQUIRE(f.store_->PutExperiment(f.scope_, Experiment("race"), 0, nullptr).ok());
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto decision = Decision(std::to_string(i));
      taken += f.store_->PutExperiment(f.scope_, Experiment("race"), 1, &decision).ok();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(taken == 1);
  CHECK(f.store_->Decisions(f.scope_, "race").size() == 1);
}

TEST_CASE("deleting an experiment removes its exposures and keeps its decisions") {
  StoreFixture f;
  const auto create = Decision("create"), end = Decision("delete");
  REQUIRE(f.store_->PutExperiment(f.scope_, Experiment("one"), 0, &create).ok());
  REQUIRE(f.store_->PutExperiment(f.scope_, Experiment("one-more"), 0, &create).ok());
  REQUIRE(f.store_->PutExposures(f.scope_, {Exposure("one", "u:a", 0), Exposure("one-more", "u:a", 1)}).ok());
  CHECK(absl::IsAborted(f.store_->DeleteExperiment(f.scope_, "one", 7, end)));
  REQUIRE(f.store_->DeleteExperiment(f.scope_, "one", 1, end).ok());
  CHECK(absl::IsNotFound(f.store_->GetExperiment(f.scope_, "one").status()));
  CHECK(absl::IsNotFound(f.store_->GetExposure(f.scope_, "one", "u:a").status()));
  CHECK(f.store_->GetExposure(f.scope_, "one-more", "u:a")->arm() == 1);
  REQUIRE(f.store_->PutExperiment(f.scope_, Experiment("one"), 0, &create).ok());
  CHECK(f.store_->Decisions(f.scope_, "one").size() == 3);
}

TEST_CASE("an experiment and a unit have one exposure, which is there after opening again") {
  StoreFixture f;
  REQUIRE(f.store_->PutExposures(f.scope_, {Exposure("e", "u:a", 0), Exposure("e", "v:b", 1)}).ok());
  REQUIRE(f.store_->PutExposures(f.scope_, {Exposure("e", "u:a", 1)}).ok());
  CHECK(absl::IsInvalidArgument(f.store_->PutExposures(f.scope_, {Exposure("e", "u:", 1)})));
  f.Reopen();
  std::vector<std::string> units;
  REQUIRE(f.store_
              ->ForEachExposure(f.scope_, "e",
                                [&](const storage::ExposureRecord& exposure) {
                                  units.push_back(exposure.unit());
                                  return true;
                                })
              .ok());
  CHECK(units == std::vector<std::string>{"u:a", "v:b"});
  CHECK(f.store_->GetExposure(f.scope_, "e", "u:a")->arm() == 1);
  REQUIRE(f.store_->DeleteExposure(f.scope_, "e", "u:a").ok());
  CHECK(absl::IsNotFound(f.store_->GetExposure(f.scope_, "e", "u:a").status()));
}

TEST_CASE("layers and measured sums are kept by id") {
  StoreFixture f;
  storage::LayerRecord layer;
  layer.set_holdout(.1);
  REQUIRE(f.store_->PutLayer(f.scope_, layer).ok());
  layer.set_id("ranking");
  REQUIRE(f.store_->PutLayer(f.scope_, layer).ok());
  CHECK(f.store_->Layers(f.scope_).size() == 2);
  storage::ServedSumsRecord sums;
  sums.set_experiment("e");
  sums.add_arms()->set_answers(7);
  REQUIRE(f.store_->PutServedSums(f.scope_, {sums}).ok());
  REQUIRE(f.store_->ServedSums(f.scope_).size() == 1);
  CHECK(f.store_->ServedSums(f.scope_)[0].arms(0).answers() == 7);
}

TEST_CASE("a folder of before there were exposures opens, for reading alone too") {
  StoreFixture f;
  REQUIRE(f.store_->PutExperiment(f.scope_, Experiment("one"), 0, nullptr).ok());
  f.Close();
  {
    const std::string folder = (f.data() / "store").string();
    std::vector<std::string> names;
    REQUIRE(rocksdb::DB::ListColumnFamilies({}, folder, &names).ok());
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    REQUIRE(rocksdb::DB::Open({}, folder, families, &handles, &db).ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle->GetName() == "exposures") CHECK(db->DropColumnFamily(handle).ok());
      db->DestroyColumnFamilyHandle(handle);
    }
    delete db;
  }
  {
    const auto reading = Store::Open(f.data(), {.read_only = true});
    REQUIRE(reading.status() == absl::OkStatus());
    CHECK((*reading)->Experiments(f.scope_).size() == 1);
    CHECK(absl::IsNotFound((*reading)->GetExposure(f.scope_, "one", "u:a").status()));
    int exposures = 0;
    CHECK((*reading)->ForEachExposure(f.scope_, "one", [&](const auto&) { return ++exposures > 0; }).ok());
    CHECK(exposures == 0);
  }
  f.Reopen();
  REQUIRE(f.store_->PutExposures(f.scope_, {Exposure("one", "u:a", 1)}).ok());
  CHECK(f.store_->GetExposure(f.scope_, "one", "u:a")->arm() == 1);
}

}  // namespace waymark::tests
