#include "training/shards/list_example.h"

#include "tests/support/catch.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

// Three candidates of two columns.
struct Sample {
  std::vector<float> features{.5f, -1, 2, 3, 4, 1e-9f}, gains{0, 1, .5f};
  std::vector<ItemOrdinal> candidates{7, 9, 0}, history{3, kNoItem};
  std::vector<EventTypeCode> types{2, 100};
  std::vector<uint64_t> query{0xFFFFFFFFFFFFFFFFull, 12};
  RankingList View() const {
    return {features, candidates, gains, history, types, query, 1000000000000001, 42, 77};
  }
};

TEST_CASE("a list is read as it was written") {
  const Sample sample;
  ListExample read;
  REQUIRE(ParseList(PrintList(sample.View()), 2, 10, &read).ok());
  CHECK(read.features == sample.features);
  CHECK(read.gains == sample.gains);
  CHECK(read.candidates == sample.candidates);
  CHECK(read.history == sample.history);
  CHECK(read.types == sample.types);
  CHECK(read.query == sample.query);
  CHECK(read.time_us == 1000000000000001);
  CHECK(read.position == 42);
  CHECK(read.user == 77);
}

TEST_CASE("on the wire a list is a tf.train.Example with the features that the header names") {
  storage::Example example;
  REQUIRE(example.ParseFromString(PrintList(Sample().View())));
  const auto& features = example.features().feature();
  CHECK(features.size() == 9);
  CHECK(features.at("user").int64_list().value(0) == 77);
  CHECK(features.at("time").int64_list().value(0) == 1000000000000001);
  CHECK(features.at("position").int64_list().value(0) == 42);
  CHECK(features.at("candidates").int64_list().value(1) == 9);
  CHECK(features.at("history").int64_list().value(1) == -1);
  CHECK(features.at("gains").float_list().value(2) == .5f);
  CHECK(features.at("features").float_list().value_size() == 6);
  CHECK(features.at("types").int64_list().value(1) == 100);
  CHECK(features.at("query").int64_list().value(0) == -1);
}

std::string Changed(
    const std::function<void(google::protobuf::Map<std::string, storage::Feature>*)>& change) {
  storage::Example example;
  REQUIRE(example.ParseFromString(PrintList(Sample().View())));
  change(example.mutable_features()->mutable_feature());
  return example.SerializeAsString();
}

TEST_CASE("a list that does not fit is refused with the feature's name") {
  ListExample list;
  const auto refused = [&](const std::string& record, const std::string& what, size_t columns = 2,
                           int64_t item_end = 10) {
    const absl::Status status = ParseList(record, columns, item_end, &list);
    CHECK(absl::IsDataLoss(status));
    CHECK_THAT(std::string(status.message()), Contains(what));
  };
  refused(Changed([](auto* f) { f->erase("gains"); }), "'gains' is missing");
  refused(Changed([](auto* f) { (*f)["gains"].mutable_int64_list(); }), "'gains' is no float list");
  refused(Changed([](auto* f) { (*f)["gains"].mutable_float_list()->add_value(1); }),
          "'gains' has 4 values; it takes 3");
  refused(Changed([](auto* f) { (*f)["features"].mutable_float_list()->add_value(1); }),
          "'features' has 7 values; it takes 6");
  refused(PrintList(Sample().View()), "'features' has 6 values; it takes 9", 3);
  refused(PrintList(Sample().View()), "'candidates' names row 9 of 9", 2, 9);
  refused(Changed([](auto* f) { (*f)["candidates"].mutable_int64_list()->set_value(0, -1); }),
          "'candidates' names row -1");
  refused(Changed([](auto* f) { (*f)["types"].mutable_int64_list()->add_value(1); }), "'types' has 3 values");
  refused("\x0a", "is no tf.train.Example");
}

TEST_CASE("an item of lists is read as it was written") {
  RankerItems::Known read;
  REQUIRE(ParseListItem(PrintListItem({5, "m\xc3\xa9", 3, {1, 0xFFFFFFFFFFFFFFFFull}}), 6, &read).ok());
  CHECK(read.item == 5);
  CHECK(read.id == "m\xc3\xa9");
  CHECK(read.count == 3);
  CHECK(read.content == std::vector<uint64_t>{1, 0xFFFFFFFFFFFFFFFFull});
  CHECK(absl::IsDataLoss(ParseListItem(PrintListItem({5, "m", 3, {}}), 5, &read)));
}

}  // namespace
}  // namespace waymark
