#include "training/shards/history_example.h"

#include "tests/support/catch.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("An example's bytes are those of a tf.train.Example") {
  // Worked out by hand from tensorflow/core/example/{example,feature}.proto: Example.features = 1, a map of
  // name = 1 and Feature = 2, Feature.int64_list = 3, Int64List.value = 1 (packed).
  ItemRecord item{"m1", {5}};
  const std::string content =
      "\x0a\x07"
      "content"
      "\x12\x05\x1a\x03\x0a\x01\x05";
  const std::string id =
      "\x0a\x02"
      "id"
      "\x12\x06\x0a\x04\x0a\x02"
      "m1";
  std::string features = "\x0a" + std::string(1, static_cast<char>(content.size())) + content + "\x0a" +
                         std::string(1, static_cast<char>(id.size())) + id;
  const std::string expected = "\x0a" + std::string(1, static_cast<char>(features.size())) + features;
  CHECK(PrintItem(item) == expected);
}

TEST_CASE("A history is read as it was written, and one that does not fit is refused by its feature") {
  HistoryExample example;
  example.user = 0xffffffffffff0001ull;
  example.rows = {3, 0, 3, -1};
  example.times_us = {100, 200, 200, 1700000000000000};
  example.held_out = 1;
  const std::string record = PrintHistory(example);
  CHECK(record == PrintHistory(example));
  HistoryExample again;
  REQUIRE(ParseHistory(record, 4, &again).ok());
  CHECK(again.user == example.user);
  CHECK(again.rows == example.rows);
  CHECK(again.times_us == example.times_us);
  CHECK(again.held_out == 1);

  const auto refused = [&](const HistoryExample& wrong, const std::string& feature) {
    const absl::Status status = ParseHistory(PrintHistory(wrong), 4, &again);
    CHECK(absl::IsDataLoss(status));
    CHECK_THAT(std::string(status.message()), Contains("'" + feature + "'"));
  };
  HistoryExample wrong = example;
  wrong.rows[0] = 4;  // of four items
  refused(wrong, "items");
  wrong = example;
  wrong.rows[0] = -1;  // trained on, and not among the items
  refused(wrong, "items");
  wrong = example;
  wrong.times_us.pop_back();
  refused(wrong, "times");
  wrong = example;
  wrong.held_out = 5;
  refused(wrong, "held_out");
  CHECK(absl::IsDataLoss(ParseHistory("not a message", 4, &again)));
  CHECK(absl::IsDataLoss(ParseHistory("", 4, &again)));
}

TEST_CASE("An item is read as it was written") {
  ItemRecord again;
  REQUIRE(ParseItem(PrintItem({"a\nb", {1, 0xfffffffffffffffeull}}), &again).ok());
  CHECK(again.id == "a\nb");
  CHECK(again.content == std::vector<uint64_t>{1, 0xfffffffffffffffeull});
  REQUIRE(ParseItem(PrintItem({"", {}}), &again).ok());
  CHECK(again.content.empty());
}

}  // namespace
}  // namespace waymark
