#include "store/rows/column_types.h"
#include "tests/store_rows/row_files.h"

namespace waymark {
namespace {

using tests::ReadAll;
using tests::RowFiles;
using tests::Rows;

TEST_CASE("an atomic file of RecBole brings its own types") {
  RowFiles files;
  RowOptions options;
  options.mapping.fields = {*ParseMappedField("id=item_id"), *ParseMappedField("title=movie_title:text"),
                            *ParseMappedField("year=release_year:integer")};
  const auto path =
      files.Write("ml.item",
                  "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq\tv:float_seq\n"
                  "1\tToy Story\t1995\tAnimation Children's\t0.5 -1\n"
                  "2\tThe \"Other\tx\tDrama\t\n");
  const auto rows = ReadAll(path, options);
  CHECK(rows[0] ==
        R"(2 {"class":["Animation","Children's"],"id":"1","title":"Toy Story","v":[0.5,-1],"year":1995})");
  CHECK(rows[1] == "3 refused: the column 'release_year' holds 'x', which is no whole number");
}

TEST_CASE("interactions of RecBole become events by mapping") {
  RowFiles files;
  RowOptions options;
  options.kind = RowKind::kEvent;
  options.mapping.fields = {*ParseMappedField("value=rating"), *ParseMappedField("time=timestamp")};
  options.mapping.constants = {*ParseConstant("type=rating")};
  const std::string text =
      "user_id:token\titem_id:token\trating:float\ttimestamp:float\n196\t242\t3\t881250949\n";
  const Rows expected = {
      R"(2 {"item_id":"242","time":"1997-12-04T15:55:49Z","type":"rating","user_id":"196","value":3})"};
  CHECK(ReadAll(files.Write("ml.inter", text), options) == expected);
  // The header alone tells, under any name.
  CHECK(ReadAll(files.Write("ml.tsv", text), options) == expected);
}

TEST_CASE("a file that is said to be RecBole's but has a plain header is an error") {
  RowFiles files;
  RowOptions options;
  options.format = RowFormat::kRecBole;
  CHECK_THAT(ReadAll(files.Write("a.tsv", "user_id\titem_id\n1\t2\n"), options)[0],
             Catch::Contains("NAME:TYPE"));
}

TEST_CASE("types of columns are found only where every cell has their plain form") {
  auto infer = [](std::vector<std::string> cells) { return CellTypeName(InferColumnType(cells)); };
  CHECK(infer({"1", "", "-20"}) == "integer");
  CHECK(infer({"1", "2.5", "1e3"}) == "number");
  CHECK(infer({"01"}) == "text");
  CHECK(infer({"+1"}) == "text");
  CHECK(infer({"1.5", "9007199254740993"}) == "text");
  CHECK(infer({"true", "False"}) == "boolean");
  CHECK(infer({"", ""}) == "text");
  CHECK(infer({"1", "true"}) == "text");
}

}  // namespace
}  // namespace waymark
