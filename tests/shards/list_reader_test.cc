#include "training/shards/list_reader.h"

#include <fstream>
#include <sstream>

#include "tests/ranker_training/synthetic.h"
#include "tests/shards/written_lists.h"
#include "tests/support/catch.h"
#include "training/shards/lists_survey.h"

namespace waymark {
namespace {

using namespace tests;  // NOLINT: fixtures
using Catch::Matchers::Contains;

const SyntheticDirectory kDirectory(400, 10);

RankerFeatures OwnFeatures() { return {FeatureTable::Current().Names(), FeatureTable::Current().sha256()}; }

struct Written {
  ShardFolder folder{"waymark-lists"};
  RankingLists train = ListsOf(MakeWorld(Rule::kCategoryOfQuery, 50, 0, 400, 1)),
               validation = ListsOf(MakeWorld(Rule::kLargestFeature, 20, 0, 400, 2));
  storage::ListsIndex index = WriteListShards(folder.path(), 3, train, validation, kDirectory);
};

TEST_CASE("lists of a folder are those that were written, in their files") {
  const Written w;
  CHECK(*KindOfShards(w.folder.path()) == "lists");
  const auto index = ReadListsIndex(w.folder.path(), OwnFeatures());
  REQUIRE(index.ok());
  CHECK(ListsFingerprint(*index) == ListsFingerprint(w.index));
  const ListReader reader(w.folder.path(), &*index);
  for (int f = 0; f < 3; ++f) {
    size_t i = static_cast<size_t>(f);
    REQUIRE(reader
                .ReadLists(index->files(f),
                           [&](const RankingList& list) {
                             CHECK(list.user == kFirstListUser + i);
                             CHECK(list.features == w.train[i].features);
                             CHECK(list.candidates == w.train[i].candidates);
                             CHECK(list.query == w.train[i].query);
                             i += 3;
                             return absl::OkStatus();
                           })
                .ok());
    CHECK(i >= 50);
  }
  REQUIRE(reader.ReadItems().ok());
}

TEST_CASE("what the files hold together is what was written, on any number of threads") {
  const Written w;
  const ListReader reader(w.folder.path(), &w.index);
  for (const int threads : {1, 3}) {
    const auto survey = SurveyLists(reader, w.index, threads, {});
    REQUIRE(survey.ok());
    CHECK(survey->lists == 50);
    CHECK(survey->validation_lists == 20);
    CHECK(survey->with_query == 50);
    CHECK(survey->first == 1);
    CHECK(survey->last == 50);
    CHECK(survey->first_time_us == 1000000 * int64_t{1000000});
    CHECK(survey->last_time_us == (1000000 + 49) * int64_t{1000000});
    for (int c = 0; c < w.index.features_size(); ++c) {
      CHECK(survey->moments.mean[c] == Approx(w.index.feature_mean(c)).margin(1e-6));
      CHECK(survey->moments.Scale(c) == Approx(w.index.feature_scale(c)).epsilon(1e-3));
    }
    const auto items = reader.ReadItems();
    REQUIRE(items->size() == survey->items.size());
    for (size_t i = 0; i < items->size(); ++i) {
      CHECK(items->at(i).item == survey->items[i]);
      CHECK(items->at(i).count == survey->counts[i]);
    }
  }
}

TEST_CASE("an index of other features, another kind, or none is refused by name") {
  const Written w;
  const auto refused = [&](storage::ListsIndex index, const std::string& what) {
    REQUIRE(WriteListsIndex(w.folder.path(), index).ok());
    const auto read = ReadListsIndex(w.folder.path(), OwnFeatures());
    CHECK(absl::IsFailedPrecondition(read.status()));
    CHECK_THAT(std::string(read.status().message()), Contains(what));
  };
  storage::ListsIndex other = w.index;
  other.set_features(2, "moon_phase");
  refused(other, "column 2 is 'moon_phase' there and 'keyword_score.z' here");
  other = w.index;
  other.mutable_features()->RemoveLast();
  refused(other, "is 'nothing' there");
  other = w.index;
  other.set_features_sha256(std::string(64, '0'));
  refused(other, "their definitions are not");
  other = w.index;
  other.set_record_sha256(std::string(64, '0'));
  refused(other, "records of another definition");
  other = w.index;
  other.set_kind("histories");
  refused(other, "of the kind 'histories', not 'lists'");
  std::filesystem::remove(w.folder / "index.json");
  CHECK_THAT(std::string(KindOfShards(w.folder.path()).status().message()),
             Contains("holds no training shards"));
  std::ofstream(w.folder / "export.json") << "{}";
  CHECK_THAT(std::string(KindOfShards(w.folder.path()).status().message()), Contains("was stopped"));
}

TEST_CASE("a changed index is found by its own hash") {
  const Written w;
  std::string text;
  {
    std::stringstream all;
    all << std::ifstream(w.folder / "index.json").rdbuf();
    text = all.str();
  }
  const size_t at = text.find("\"item_end\": \"400\"");
  REQUIRE(at != std::string::npos);
  text[at + 13] = '5';
  std::ofstream(w.folder / "index.json") << text;
  const auto read = ReadListsIndex(w.folder.path(), OwnFeatures());
  CHECK(absl::IsDataLoss(read.status()));
  CHECK_THAT(std::string(read.status().message()), Contains("do not match"));
}

}  // namespace
}  // namespace waymark
