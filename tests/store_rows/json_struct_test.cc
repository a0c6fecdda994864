#include "store/rows/json_struct.h"

#include "store/rows/utf8.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

std::string Problem(const std::string& text) {
  google::protobuf::Struct fields;
  return std::string(ParseJsonObject(text, &fields).message());
}

std::string RoundTrip(const std::string& text) {
  google::protobuf::Struct fields;
  REQUIRE(ParseJsonObject(text, &fields).ok());
  return JsonText(fields);
}

TEST_CASE("an object comes back as it was, with its keys in order") {
  CHECK(RoundTrip(R"({"b":[1,{"c":null}],"a":"x\n\"\u00e9\u0001"})") ==
        "{\"a\":\"x\\n\\\"\xC3\xA9\\u0001\",\"b\":[1,{\"c\":null}]}");
  CHECK(RoundTrip(R"({"t":true,"f":false,"e":{},"l":[]})") == R"({"e":{},"f":false,"l":[],"t":true})");
}

TEST_CASE("whole numbers print whole and others in the shortest form") {
  CHECK(RoundTrip(R"({"a":1995,"b":1995.0,"c":0.1,"d":-3.5e-7,"e":1e300})") ==
        R"({"a":1995,"b":1995,"c":0.1,"d":-3.5e-07,"e":1e+300})");
}

TEST_CASE("2^53 passes and the next integer is refused by the name of its field") {
  CHECK(RoundTrip(R"({"n":9007199254740992,"m":-9007199254740992})") ==
        R"({"m":-9007199254740992,"n":9007199254740992})");
  for (const std::string number :
       {"9007199254740993", "-9007199254740993", "18446744073709551615", "123456789012345678901234567890"}) {
    const std::string problem = Problem(R"({"sizes":[1,{"sku":)" + number + "}]}");
    CHECK_THAT(problem, Catch::Contains("'sizes[1].sku'") && Catch::Contains(number) &&
                            Catch::Contains("write it as text: \"" + number + "\""));
  }
}

TEST_CASE("NaN, Infinity and numbers too large for a double are refused and named") {
  CHECK_THAT(Problem(R"({"a":NaN})"), Catch::Contains("column 6") && Catch::Contains("NaN and Infinity"));
  CHECK_THAT(Problem(R"({"a":-Infinity})"), Catch::Contains("NaN and Infinity"));
  CHECK_THAT(Problem(R"({"a":1e999})"), Catch::Contains("'1e999' is too large"));
}

TEST_CASE("a doubled key, at any depth, is refused by its path") {
  CHECK_THAT(Problem(R"({"a":1,"a":2})"), Catch::Contains("'a'") && Catch::Contains("twice"));
  CHECK_THAT(Problem(R"({"o":{"p":{"q":1,"q":1}}})"), Catch::Contains("'o.p.q'"));
}

TEST_CASE("nesting is bounded") {
  std::string deep = "1";
  for (int i = 0; i < kMaxJsonDepth - 1; ++i) deep = "[" + deep + "]";
  CHECK(Problem("{\"a\":" + deep + "}").empty());
  CHECK_THAT(Problem("{\"a\":[" + deep + "]}"), Catch::Contains("nested deeper than 30"));
  CHECK_THAT(Problem("{\"a\":" + std::string(100000, '[')), Catch::Contains("nested deeper than 30"));
}

TEST_CASE("what is no object, cut off or no UTF-8 says so") {
  CHECK_THAT(Problem("[1]"), Catch::Contains("JSON object"));
  CHECK_THAT(Problem("{\"id\":\"m1\""), Catch::Contains("not JSON, column 11"));
  CHECK_THAT(Problem("{\"id\":\"m1\"} x"), Catch::Contains("not JSON, column 13"));
  CHECK_THAT(Problem("{\"id\":\"m\xC3(\"}"), Catch::Contains("byte 9 is not UTF-8"));
}

TEST_CASE("UTF-8 is checked as RFC 3629 has it") {
  const auto npos = absl::string_view::npos;
  CHECK(FindInvalidUtf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF") == npos);
  CHECK(FindInvalidUtf8("ab\xC0\x80") == 2);        // overlong
  CHECK(FindInvalidUtf8("\xE0\x9F\xBF") == 0);      // overlong
  CHECK(FindInvalidUtf8("x\xED\xA0\x80") == 1);     // surrogate
  CHECK(FindInvalidUtf8("\xF4\x90\x80\x80") == 0);  // beyond U+10FFFF
  CHECK(FindInvalidUtf8("abc\xE2\x82") == 3);       // cut off
  CHECK(FindInvalidUtf8("\x80") == 0);
}

}  // namespace
}  // namespace waymark
