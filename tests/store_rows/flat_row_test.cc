#include "store/rows/flat_row.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "store/rows/row_mutation.h"
#include "store/rows/row_writer.h"
#include "tests/store_rows/row_files.h"

namespace waymark {
namespace {

using tests::ReadAll;
using tests::RowFiles;
using tests::Rows;

std::string EventAgain(const std::string& json) {
  google::protobuf::Struct fields;
  REQUIRE(ParseJsonObject(json, &fields).ok());
  auto event = EventFromRow(fields);
  REQUIRE(event.ok());
  return EventRow(*event);
}

TEST_CASE("an item is written with its id first") {
  google::protobuf::Struct fields;
  CHECK(ItemRow("m\"1", fields) == R"({"id":"m\"1"})");
  (*fields.mutable_fields())["year"].set_number_value(1995);
  CHECK(ItemRow("m1", fields) == R"({"id":"m1","year":1995})");
}

TEST_CASE("an event that is written is read back the same") {
  const std::string one =
      R"({"event_id":"e1","type":"view","user_id":"u1","item_id":"m1","position":3,"time":"1997-12-04T15:55:49Z",)"
      R"("value":5,"query":"toys","context":{"country":"nl"},"received_time":"1997-12-04T15:55:50.5Z"})";
  CHECK(EventAgain(one) == one);
  const std::string many =
      R"({"type":"purchase","user_id":"u","items":[{"item_id":"a","quantity":2,"price":9.5,"currency":"EUR"},)"
      R"({"item_id":"b"}],"properties":{"x":1}})";
  CHECK(EventAgain(many) == many);
}

TEST_CASE("a served list names its items") {
  const ServedList list{.request_id = "r1",
                        .user_id = "u",
                        .arm = "x/new",
                        .time = absl::FromUnixSeconds(0),
                        .items = {{"a", 0.5}, {"b", 0.25}}};
  CHECK(
      ServedRow(list) ==
      R"({"request_id":"r1","time":"1970-01-01T00:00:00Z","user_id":"u","arm":"x/new","items":[{"item_id":"a","score":0.5},{"item_id":"b","score":0.25}]})");
}

TEST_CASE("what is exported, packed or not, is imported line by line") {
  RowFiles files;
  std::mt19937 random(3);
  std::vector<std::string> lines;
  for (int i = 0; i < 20000; ++i) {
    lines.push_back("{\"id\":\"" + std::to_string(i) + "\",\"n\":" + std::to_string(random()) + "}");
  }
  for (const char* name : {"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"}) {
    auto writer = RowWriter::Open(files.Path(name));
    REQUIRE(writer.ok());
    for (const auto& line : lines) REQUIRE((*writer)->WriteLine(line).ok());
    CHECK_FALSE(std::filesystem::exists(files.Path(name)));
    REQUIRE((*writer)->Close().ok());
    CHECK((*writer)->lines() == 20000);
    const Rows rows = ReadAll(files.Path(name), {});
    REQUIRE(rows.size() == lines.size());
    for (size_t i = 0; i < rows.size(); ++i) REQUIRE(rows[i] == std::to_string(i + 1) + " " + lines[i]);
  }
  CHECK(std::filesystem::file_size(files.Path("a.jsonl.gz")) <
        std::filesystem::file_size(files.Path("a.jsonl")) / 2);
  CHECK(std::filesystem::file_size(files.Path("a.jsonl.zst")) <
        std::filesystem::file_size(files.Path("a.jsonl")) / 2);
}

TEST_CASE("a file that is not finished leaves nothing behind and keeps what was there") {
  RowFiles files;
  files.Write("a.jsonl", "old\n");
  {
    auto writer = RowWriter::Open(files.Path("a.jsonl"));
    REQUIRE((*writer)->WriteLine("new").ok());
  }
  CHECK(std::filesystem::file_size(files.Path("a.jsonl")) == 4);
  CHECK_FALSE(std::filesystem::exists(files.Path("a.jsonl.part")));
  CHECK(RowWriter::Open(files.Path("no/such/folder")).status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("what is no regular file is written to, and is still there afterwards") {
  RowFiles files;
  std::filesystem::create_symlink("target.jsonl", files.Path("link.jsonl"));
  REQUIRE(mkfifo(files.Path("pipe").c_str(), 0600) == 0);
  const int reading = open(files.Path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  for (const char* name : {"link.jsonl", "pipe"}) {
    auto writer = RowWriter::Open(files.Path(name));
    REQUIRE(writer.ok());
    REQUIRE((*writer)->WriteLine("row").ok());
    CHECK((*writer)->Close().ok());
  }
  CHECK(std::filesystem::is_symlink(files.Path("link.jsonl")));
  CHECK(std::filesystem::file_size(files.Path("target.jsonl")) == 4);
  CHECK(std::filesystem::is_fifo(files.Path("pipe")));
  char text[8] = {};
  CHECK(read(reading, text, sizeof(text)) == 4);
  CHECK(std::string(text) == "row\n");
  close(reading);
}

}  // namespace
}  // namespace waymark
