#include "tests/store/fixture.h"

namespace waymark::tests {

static storage::ModelRecord Model(const std::string& kind, const std::string& version,
                                  const std::string& hash) {
  storage::ModelRecord model;
  model.set_kind(kind);
  model.set_version(version);
  model.set_content_sha256(hash);
  return model;
}

TEST_CASE("a model's kind and version stand for one content") {
  StoreFixture f;
  REQUIRE(f.store_->PutModel(f.scope_, Model("ranker", "1", "aa")).ok());
  CHECK(f.store_->PutModel(f.scope_, Model("ranker", "1", "aa")).ok());
  CHECK(absl::IsAlreadyExists(f.store_->PutModel(f.scope_, Model("ranker", "1", "bb"))));
  REQUIRE(f.store_->PutModel(f.scope_, Model("retriever", "1", "cc")).ok());
  REQUIRE(f.store_->PutModel(f.scope_, Model("ranker", "2", "dd")).ok());
  f.Reopen();
  CHECK(f.store_->GetModel(f.scope_, "ranker", "1")->content_sha256() == "aa");
  CHECK(absl::IsNotFound(f.store_->GetModel(f.scope_, "ranker", "3").status()));
  CHECK(f.store_->Models(f.scope_).size() == 3);
  CHECK(absl::IsInvalidArgument(f.store_->PutModel(f.scope_, Model("", "1", "aa"))));
}

TEST_CASE("releases are written once, and activated only on top of what is expected") {
  StoreFixture f;
  storage::ReleaseRecord release;
  release.set_id("r1");
  REQUIRE(f.store_->PutRelease(f.scope_, release).ok());
  CHECK(absl::IsAlreadyExists(f.store_->PutRelease(f.scope_, release)));
  release.set_id("r2");
  REQUIRE(f.store_->PutRelease(f.scope_, release).ok());
  CHECK(f.store_->Releases(f.scope_).size() == 2);
  CHECK(f.store_->GetRelease(f.scope_, "r2")->id() == "r2");

  storage::ActivationRecord::Activation next;
  next.set_release_id("r1");
  CHECK(f.store_->Activations(f.scope_).activations().empty());
  CHECK(absl::IsAborted(f.store_->Activate(f.scope_, "r2", next)));
  REQUIRE(f.store_->Activate(f.scope_, "", next).ok());
  CHECK(absl::IsAborted(f.store_->Activate(f.scope_, "", next)));
  next.set_release_id("r2");
  REQUIRE(f.store_->Activate(f.scope_, "r1", next).ok());
  next.set_release_id("no-such");
  CHECK(absl::IsNotFound(f.store_->Activate(f.scope_, "r2", next)));
  next.set_release_id("");
  REQUIRE(f.store_->Activate(f.scope_, "r2", next).ok());
  f.Reopen();
  const auto record = f.store_->Activations(f.scope_);
  REQUIRE(record.activations_size() == 3);
  CHECK(record.activations(1).release_id() == "r2");
  CHECK(f.store_->Activate(f.scope_, "", next).ok());
}

}  // namespace waymark::tests
