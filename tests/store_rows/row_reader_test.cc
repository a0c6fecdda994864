#include "store/rows/row_reader.h"

#include "tests/store_rows/row_files.h"

namespace waymark {
namespace {

using tests::ReadAll;
using tests::RowFiles;
using tests::Rows;

RowOptions With(RowKind kind, const std::vector<std::string>& maps = {},
                const std::vector<std::string>& sets = {}, const std::vector<std::string>& drops = {}) {
  RowOptions options;
  options.kind = kind;
  for (const auto& map : maps) options.mapping.fields.push_back(*ParseMappedField(map));
  for (const auto& set : sets) options.mapping.constants.push_back(*ParseConstant(set));
  options.mapping.dropped = drops;
  return options;
}

TEST_CASE("a broken line of JSONL is refused with its number and the rest goes on") {
  RowFiles files;
  const auto rows = ReadAll(
      files.Write("a.jsonl",
                  "{\"id\":\"1\"}\n{\"id\":\n\n{\"id\":\"3\",\"n\":9007199254740993}\r\n{\"id\":\"4\"}\r\n"),
      With(RowKind::kItem));
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == "1 {\"id\":\"1\"}");
  CHECK_THAT(rows[1], Catch::StartsWith("2 refused: not JSON"));
  CHECK_THAT(rows[2], Catch::StartsWith("4 refused: the field 'n' holds the integer 9007199254740993"));
  CHECK(rows[3] == "5 {\"id\":\"4\"}");
}

TEST_CASE("an empty file is an error that says so") {
  RowFiles files;
  for (const char* name : {"a.jsonl", "a.csv", "a.inter", "a"}) {
    CHECK_THAT(ReadAll(files.Write(name, ""), With(RowKind::kItem))[0], Catch::Contains("is empty"));
  }
  CHECK_THAT(ReadAll(files.Write("blank.csv", "\n\n"), With(RowKind::kItem))[0],
             Catch::Contains("no header line"));
}

TEST_CASE("lines beyond the bound are refused in both formats") {
  RowFiles files;
  RowOptions options = With(RowKind::kItem);
  options.max_line_bytes = 1000;
  const std::string filler(5000, 'x');
  CHECK(ReadAll(files.Write("a.jsonl", "{\"id\":\"" + filler + "\"}\n{\"id\":\"2\"}\n"), options) ==
        Rows{"1 refused: the line is longer than 1000 bytes", "2 {\"id\":\"2\"}"});
  CHECK(ReadAll(files.Write("a.csv", "id,t\n1," + filler + "\n2,b\n"), options) ==
        Rows{"2 refused: the line is longer than 1000 bytes", "3 {\"id\":\"2\",\"t\":\"b\"}"});
}

TEST_CASE("MovieLens' movies.csv: ids stay text, years become numbers, genres a list") {
  RowFiles files;
  const auto path =
      files.Write("movies.csv",
                  "movieId,title,genres,year\n1,\"American President, The (1995)\",Comedy|Drama,1995\n"
                  "2,Heat,,\n");
  CHECK(ReadAll(path, With(RowKind::kItem, {"id=movieId", "genres=genres:split(|)"})) ==
        Rows{"2 {\"genres\":[\"Comedy\",\"Drama\"],\"id\":\"1\",\"title\":\"American President, The "
             "(1995)\",\"year\":1995}",
             "3 {\"id\":\"2\",\"title\":\"Heat\"}"});
}

TEST_CASE("a point is made of two columns, and is refused where one is missing or out of range") {
  RowFiles files;
  const RowOptions options = With(RowKind::kItem, {"place=lat,lon:point"});
  const auto path = files.Write("a.csv",
                                "id,lat,lon\n1,52.5, 13.4\n2,,\n3,52.5,\n4,91,0\n5,0,-180.5\n6,\"52,5\",1\n"
                                "7,-90,180\n");
  CHECK(
      ReadAll(path, options) ==
      Rows{
          R"(2 {"id":"1","place":{"lat":52.5,"lon":13.4}})", R"(3 {"id":"2"})",
          "4 refused: the columns 'lat' and 'lon' hold only one of latitude and longitude ('52.5' and ''); a "
          "point has both",
          "5 refused: the columns 'lat' and 'lon' do not make a point: the first holds '91', which is no "
          "latitude (from -90 "
          "to 90, written as 52.5)",
          "6 refused: the columns 'lat' and 'lon' do not make a point: the second holds '-180.5', which is "
          "no longitude (from "
          "-180 to 180, written as 52.5)",
          "7 refused: the columns 'lat' and 'lon' do not make a point: the first holds '52,5', which is no "
          "latitude (from -90 "
          "to 90, written as 52.5)",
          R"(8 {"id":"7","place":{"lat":-90,"lon":180}})"});
  CHECK(ReadAll(files.Write("a.jsonl", R"({"id":"1","lat":52.5,"lon":"13.4"})"
                                       "\n"
                                       R"({"id":"2","lat":null})"
                                       "\n"
                                       R"({"id":"3","lon":1})"
                                       "\n"
                                       R"({"id":"4","lat,lon":"1,2"})"
                                       "\n"),
                options) == Rows{R"(1 {"id":"1","place":{"lat":52.5,"lon":13.4}})", R"(2 {"id":"2"})",
                                 "3 refused: the fields 'lat' and 'lon' hold only one of latitude and "
                                 "longitude ('' and '1'); a point "
                                 "has both",
                                 R"(4 {"id":"4","place":{"lat":1,"lon":2}})"});
  // One column whose name has a comma goes before two.
  CHECK(ReadAll(files.Write("b.csv", "id,\"lat,lon\"\n1,\"1,2\"\n"), options) ==
        Rows{R"(2 {"id":"1","place":{"lat":1,"lon":2}})"});
  CHECK_THAT(
      ReadAll(files.Path("a.csv"), With(RowKind::kItem, {"place=lat,lng:point"}))[0],
      Catch::Contains("there is no column 'lat,lng'") && Catch::Contains("FIELD=LATITUDE,LONGITUDE:point"));
  CHECK_FALSE(
      CheckMapping(With(RowKind::kItem, {"place=lat,lon:point"}, {}, {"lon"}).mapping, RowKind::kItem).ok());
}

TEST_CASE("a column keeps the type of its first rows and what does not fit is refused with the remedy") {
  RowFiles files;
  std::string text = "id,year,code,price,flag\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + ",1995,007,1.5,true\n";
  text += "x,unknown,008,2,false\n";
  auto rows = ReadAll(files.Write("a.csv", text), With(RowKind::kItem));
  CHECK(rows[0] == "2 {\"code\":\"007\",\"flag\":true,\"id\":\"0\",\"price\":1.5,\"year\":1995}");
  CHECK_THAT(rows[1000],
             Catch::Contains("1002 refused: the column 'year' holds 'unknown', which is no whole number") &&
                 Catch::Contains("--map year=year:text"));
  rows = ReadAll(files.Path("a.csv"), With(RowKind::kItem, {"year=year:text"}));
  CHECK(rows[1000] == "1002 {\"code\":\"008\",\"flag\":false,\"id\":\"x\",\"price\":2,\"year\":\"unknown\"}");
}

TEST_CASE("integers beyond 2^53 make a column of text, or are refused where a number is asked for") {
  RowFiles files;
  const auto path = files.Write("a.csv", "id,sku\n1,9007199254740993\n2,5\n");
  CHECK(ReadAll(path, With(RowKind::kItem))[0] == "2 {\"id\":\"1\",\"sku\":\"9007199254740993\"}");
  const auto rows = ReadAll(path, With(RowKind::kItem, {"sku=sku:integer"}));
  CHECK_THAT(rows[0], Catch::Contains("'sku'") && Catch::Contains("beyond 2^53"));
  CHECK(rows[1] == "3 {\"id\":\"2\",\"sku\":5}");
}

TEST_CASE("NaN is no number") {
  RowFiles files;
  const auto rows = ReadAll(
      files.Write("r.csv",
                  "user_id,item_id,value,time,type\nu,i,nan,5,view\nu,i,inf,5,view\nu,i,3.5,5,view\n"),
      With(RowKind::kEvent));
  CHECK_THAT(rows[0], Catch::Contains("the column 'value' holds 'nan', which is no finite number"));
  CHECK_THAT(rows[1], Catch::Contains("'inf'"));
  CHECK_THAT(rows[2], Catch::Contains("\"value\":3.5"));
}

TEST_CASE("a mapped column that is not there is an error that names those that are") {
  RowFiles files;
  const auto path = files.Write("a.csv", "userId,movieId,rating\n1,2,3\n");
  CHECK(ReadAll(path, With(RowKind::kEvent, {"user_id=user"}))[0] ==
        "open: there is no column 'user' (mapped to user_id); the file has userId, movieId, rating");
}

TEST_CASE("a column that is no field of an event has to be mapped or dropped") {
  RowFiles files;
  const auto path = files.Write("a.csv", "user_id,item_id,mood\n1,2,happy\n");
  CHECK_THAT(ReadAll(path, With(RowKind::kEvent, {}, {"type=view"}))[0],
             Catch::Contains("the column 'mood' is no field of an event") && Catch::Contains("--drop mood"));
  CHECK(ReadAll(path, With(RowKind::kEvent, {}, {"type=view"}, {"mood"}))[0] ==
        "2 {\"item_id\":\"2\",\"type\":\"view\",\"user_id\":\"1\"}");
  CHECK(ReadAll(path, With(RowKind::kEvent, {"properties.mood=mood"}, {"type=view"}))[0] ==
        "2 {\"item_id\":\"2\",\"properties\":{\"mood\":\"happy\"},\"type\":\"view\",\"user_id\":\"1\"}");
}

TEST_CASE("rows with too few or too many cells are refused") {
  RowFiles files;
  CHECK(ReadAll(files.Write("a.csv", "id,t\n1\n2,b,c\n3,d\n"), With(RowKind::kItem)) ==
        Rows{"2 refused: the row has 1 cells, the header has 2",
             "3 refused: the row has 3 cells, the header has 2", "4 {\"id\":\"3\",\"t\":\"d\"}"});
}

TEST_CASE("a header with a doubled or empty name is an error") {
  RowFiles files;
  CHECK_THAT(ReadAll(files.Write("a.csv", "id,t,t\n1,2,3\n"), With(RowKind::kItem))[0],
             Catch::Contains("'t' twice"));
  CHECK_THAT(ReadAll(files.Write("a.csv", "id,,t\n1,2,3\n"), With(RowKind::kItem))[0],
             Catch::Contains("no name for column 2"));
}

TEST_CASE("with only mapped columns the others may lack a name and hold anything") {
  RowFiles files;
  RowOptions options = With(RowKind::kItem, {"n=t:number"});
  options.has_ids = false;
  options.mapping.only_mapped = true;
  CHECK(ReadAll(files.Write("a.csv", ",t,x\n1,2,3\n4,5,y\n"), options) == Rows{"2 {\"n\":2}", "3 {\"n\":5}"});
  CHECK(ReadAll(files.Write("a.jsonl", "{\"t\":2,\"x\":3}\n"), options) == Rows{"1 {\"n\":2}"});
}

TEST_CASE("a byte order mark and CRLF leave no trace in names and values") {
  RowFiles files;
  CHECK(ReadAll(files.Write("a.csv", "\xEF\xBB\xBFid,t\r\n1,b\r\n"), With(RowKind::kItem)) ==
        Rows{"2 {\"id\":\"1\",\"t\":\"b\"}"});
}

TEST_CASE("a file without a telling name is known by its first line") {
  RowFiles files;
  CHECK(ReadAll(files.Write("a", "{\"id\":\"1\"}\n"), With(RowKind::kItem)) == Rows{"1 {\"id\":\"1\"}"});
  CHECK(ReadAll(files.Write("b", "id\tt\n1\tx y\n"), With(RowKind::kItem)) ==
        Rows{"2 {\"id\":\"1\",\"t\":\"x y\"}"});
  CHECK(ReadAll(files.Write("c", "id,t\n1,x\n"), With(RowKind::kItem)) ==
        Rows{"2 {\"id\":\"1\",\"t\":\"x\"}"});
}

TEST_CASE("JSON keys are mapped, converted, dropped and set like columns") {
  RowFiles files;
  const auto path = files.Write("a.jsonl", R"({"movieId":17,"tags":"a|b","junk":[1],"year":"1995"})"
                                           "\n"
                                           R"({"movieId":"x","year":"soon"})"
                                           "\n");
  const auto rows =
      ReadAll(path, With(RowKind::kItem, {"id=movieId:text", "tags=tags:split(|)", "year=year:integer"},
                         {"shop=books"}, {"junk"}));
  CHECK(rows[0] == R"(1 {"id":"17","shop":"books","tags":["a","b"],"year":1995})");
  CHECK_THAT(rows[1], Catch::StartsWith("2 refused: the field 'year' holds 'soon'"));
}

TEST_CASE("reading goes on after a given line") {
  RowFiles files;
  RowOptions options = With(RowKind::kItem);
  options.skip_lines = 2;
  CHECK(ReadAll(files.Write("a.jsonl", "{\"id\":\"1\"}\nbroken\n{\"id\":\"3\"}\n"), options) ==
        Rows{"3 {\"id\":\"3\"}"});
  CHECK(ReadAll(files.Write("a.csv", "id\n1\n2\n"), options) == Rows{"3 {\"id\":\"2\"}"});
}

TEST_CASE("a mapping that contradicts itself is an error") {
  RowFiles files;
  const auto path = files.Write("a.csv", "a,b\n1,2\n");
  CHECK_THAT(ReadAll(path, With(RowKind::kItem, {"id=a", "id=b"}))[0], Catch::Contains("'id' is set twice"));
  CHECK_THAT(ReadAll(path, With(RowKind::kItem, {"id=a"}, {"b=5"}))[0], Catch::Contains("--drop b"));
  CHECK_THAT(ReadAll(path, With(RowKind::kItem, {"id=a"}, {}, {"a"}))[0],
             Catch::Contains("both mapped and dropped"));
  CHECK_THAT(ReadAll(path, With(RowKind::kEvent, {"user=a"}))[0],
             Catch::Contains("an event has no field 'user'"));
  CHECK_FALSE(ParseMappedField("id").ok());
  CHECK_FALSE(ParseMappedField("=x").ok());
  CHECK(ParseMappedField("a=b:c")->column == "b:c");
  CHECK(ParseMappedField("a=b:split(:)")->type == CellType{CellType::Kind::kSplit, ":"});
}

TEST_CASE("a table without an id is refused before its rows, with the columns that it has") {
  RowFiles files;
  const std::string csv = files.Write("a.csv", "movieId,title\n1,x\n");
  for (RowKind kind : {RowKind::kItem, RowKind::kUser}) {
    CHECK_THAT(ReadAll(csv, With(kind))[0], Catch::StartsWith("open: there is no column 'id'") &&
                                                Catch::Contains("--id-column") &&
                                                Catch::Contains("movieId, title"));
  }
  CHECK(ReadAll(csv, With(RowKind::kItem, {"id=movieId:text"})) == Rows{"2 {\"id\":\"1\",\"title\":\"x\"}"});
  CHECK(ReadAll(csv, With(RowKind::kItem, {}, {"id=only"}, {"movieId"})).size() == 1);
}

}  // namespace
}  // namespace waymark
