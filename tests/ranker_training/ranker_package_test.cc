// Packages that do not fit, or are damaged, are refused with a text that says what and where.
#include <cmath>

#include "rank/attention_ranker.h"
#include "tests/ranker_training/synthetic.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::ListsOf;
using tests::MakeWorld;
using tests::Rule;
using tests::SyntheticDirectory;
using tests::TemporaryFolder;

const SyntheticDirectory kItems(400, 10);
constexpr char kRetriever[] = "5b2d-of-the-retriever";

const TrainedRanker& Trained() {
  static const TrainedRanker* const trained = [] {
    const RankingLists train = ListsOf(MakeWorld(Rule::kCategoryOfLastItem, 200, 0, 400, 1));
    RankerTrainerOptions options;
    options.max_epochs = 1;
    options.content_buckets = 64;
    return new TrainedRanker(
        *TrainRanker(train, RankingLists(train.feature_count(), {}), kItems, options, nullptr, {}));
  }();
  return *trained;
}

storage::ModelManifest Manifest() {
  storage::ModelManifest manifest;
  manifest.set_name("test");
  manifest.set_version("r1");
  manifest.set_create_time("2026-01-01T00:00:00Z");
  manifest.set_retriever_sha256(kRetriever);
  return manifest;
}

// Loads the trained ranker after `change` to what is written.
absl::Status LoadChanged(
    const std::function<void(storage::ModelManifest*, TensorMap*, std::vector<std::string>*)>& change) {
  TemporaryFolder folder;
  auto good = WriteRankerPackage(folder.path() / "good", Trained(), FeatureTable::Current(), Manifest());
  if (!good.ok()) return good.status();
  storage::ModelManifest manifest = good->manifest;
  TensorMap tensors = *ReadWeights(*good);
  std::vector<std::string> ids = *ReadVocabulary(*good, "items");
  change(&manifest, &tensors, &ids);
  manifest.clear_files();
  auto package = WriteModelPackage(folder.path() / "changed", manifest, tensors, {{"items", ids}});
  if (!package.ok()) return package.status();
  return LoadAttentionRanker(*package, &kItems, kRetriever).status();
}

bool Says(const absl::Status& status, const std::string& text) {
  INFO(status.ToString());
  const bool found = std::string(status.message()).find(text) != std::string::npos;
  CHECK(found);
  return found;
}

TEST_CASE("an unchanged package loads, and tells where it comes from") {
  TemporaryFolder folder;
  auto package = WriteRankerPackage(folder.path() / "r1", Trained(), FeatureTable::Current(), Manifest());
  REQUIRE(package.ok());
  CHECK(package->manifest.kind() == "ranker");
  CHECK(package->manifest.data().lists() == 200);
  CHECK(package->manifest.data().first_time() == "1970-01-12T13:46:40+00:00");  // a million seconds
  CHECK(package->manifest.metrics().count("validation_ndcg_at_10") == 1);
  auto ranker = LoadAttentionRanker(*package, &kItems, kRetriever);
  REQUIRE(ranker.ok());
  CHECK((*ranker)->version() == "r1");
  CHECK((*ranker)->retriever_sha256() == kRetriever);
  CHECK_FALSE((*ranker)->knows_queries());
}

TEST_CASE("a ranker is refused beside another retriever, with both named") {
  TemporaryFolder folder;
  auto package = WriteRankerPackage(folder.path() / "r1", Trained(), FeatureTable::Current(), Manifest());
  REQUIRE(package.ok());
  const absl::Status status = LoadAttentionRanker(*package, &kItems, "another").status();
  CHECK(absl::IsFailedPrecondition(status));
  Says(status, kRetriever);
  Says(status, "another");
}

TEST_CASE("features that this program computes otherwise are refused") {
  const absl::Status hash = LoadChanged([](auto* m, auto*, auto*) { m->set_features_sha256("00ff"); });
  CHECK(absl::IsFailedPrecondition(hash));
  Says(hash, "features_sha256 is 00ff");
  const absl::Status name = LoadChanged([](auto* m, auto*, auto*) { m->set_features(3, "moon_phase"); });
  CHECK(absl::IsInvalidArgument(name));
  Says(name, "moon_phase");
}

TEST_CASE("another kind, an unknown network key and a bad size are refused by name") {
  Says(LoadChanged([](auto* m, auto*, auto*) { m->set_kind("retriever"); }), "kind is 'retriever'");
  CHECK_FALSE(LoadChanged([](auto* m, auto*, auto*) { (*m->mutable_network())["dropout"] = 1; }).ok());
  CHECK_FALSE(LoadChanged([](auto* m, auto*, auto*) { m->mutable_network()->erase("hidden1"); }).ok());
  Says(LoadChanged([](auto* m, auto*, auto*) { (*m->mutable_network())["width"] = 1e9; }),
       "network.width is 1e+09");
  Says(LoadChanged([](auto* m, auto*, auto*) { (*m->mutable_network())["width"] = std::nan(""); }),
       "network.width");
  Says(LoadChanged([](auto* m, auto*, auto*) { m->mutable_network()->erase("head:engagement"); }),
       "head:engagement");
}

TEST_CASE("weights that are missing, of another shape or not finite are refused by name") {
  Says(LoadChanged([](auto*, TensorMap* t, auto*) { t->erase("layer1_weight"); }),
       "tensor 'layer1_weight' is missing");
  Says(LoadChanged([](auto*, TensorMap* t, auto*) {
         (*t)["age_bias"] = TensorData::F32({2, 19}, std::vector<float>(38, 0.f));
       }),
       "tensor 'age_bias' has the shape [2, 19]; this network takes [2, 20]");
  for (const float bad : {std::nanf(""), INFINITY}) {
    Says(LoadChanged([bad](auto*, TensorMap* t, auto*) {
           (*t)["heads_bias"] = TensorData::F32({1}, std::vector<float>{bad});
         }),
         "tensor 'heads_bias' holds a value that is not finite");
  }
  Says(LoadChanged([](auto*, TensorMap* t, auto*) {
         const auto columns = static_cast<int64_t>(FeatureTable::Current().size());
         (*t)["feature_scale"] = TensorData::F32({columns}, std::vector<float>(columns, 0.f));
       }),
       "feature_scale");
}

TEST_CASE("a truncated file of weights is refused as damaged") {
  TemporaryFolder folder;
  auto package = WriteRankerPackage(folder.path() / "r1", Trained(), FeatureTable::Current(), Manifest());
  REQUIRE(package.ok());
  const std::filesystem::path weights = folder.path() / "r1" / "weights.safetensors";
  std::filesystem::permissions(weights, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  std::filesystem::resize_file(weights, std::filesystem::file_size(weights) - 100);
  CHECK(absl::IsDataLoss(OpenModelPackage(folder.path() / "r1").status()));
  // Also when the file is cut after the package was opened.
  const absl::Status status = LoadAttentionRanker(*package, &kItems, kRetriever).status();
  CHECK(absl::IsDataLoss(status));
  Says(status, "ranker r1");
}

TEST_CASE("a vocabulary of another length is refused") {
  Says(LoadChanged([](auto*, auto*, std::vector<std::string>* ids) { ids->pop_back(); }), "items.txt has");
}

TEST_CASE("a ranker knows queries when enough of its lists had one") {
  CHECK_FALSE(KnowsQueries(1000, 0));
  CHECK_FALSE(KnowsQueries(100, 99));
  CHECK(KnowsQueries(2000, 100));
  CHECK_FALSE(KnowsQueries(2001, 100));
  CHECK(KnowsQueries(10000000, 1000));
}

}  // namespace
}  // namespace waymark
