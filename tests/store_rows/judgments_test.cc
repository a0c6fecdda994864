#include "store/rows/judgments.h"

#include "tests/store_rows/row_files.h"

namespace waymark {
namespace {

using tests::RowFiles;

TEST_CASE("queries and judgments are read as TREC writes them") {
  RowFiles files;
  auto queries = ReadQueries(files.Write("q.tsv", "1\tstar wars\r\n\n2\tto be\tor not\n"));
  REQUIRE(queries.ok());
  REQUIRE(queries->size() == 2);
  CHECK(((*queries)[0].id == "1" && (*queries)[0].text == "star wars"));
  CHECK((*queries)[1].text == "to be\tor not");
  auto judgments = ReadJudgments(files.Write("qrels", "1 0 m1 2\n1\t0\tm2\t0\n2 0  m1 -1\n1 0 m1 2\n"));
  REQUIRE(judgments.ok());
  CHECK(judgments->size() == 2);
  CHECK(judgments->at("1").at("m1") == 2);
  CHECK(judgments->at("2").at("m1") == -1);
}

TEST_CASE("what is wrong with queries and judgments is named with its line") {
  RowFiles files;
  auto queries = [&](const std::string& text) {
    return std::string(ReadQueries(files.Write("q", text)).status().message());
  };
  auto qrels = [&](const std::string& text) {
    return std::string(ReadJudgments(files.Write("j", text)).status().message());
  };
  CHECK_THAT(queries("1\ta\nno tab\n"), Catch::Contains("line 2: a query is id<TAB>text"));
  CHECK_THAT(queries("1\ta\n1\tb\n"), Catch::Contains("line 2") && Catch::Contains("twice"));
  CHECK_THAT(queries(""), Catch::Contains("is empty"));
  CHECK_THAT(queries("1\t\xFF\n"), Catch::Contains("not UTF-8"));
  CHECK_THAT(qrels("1 0 m1\n"), Catch::Contains("line 1") && Catch::Contains("has 3"));
  CHECK_THAT(qrels("1 0 m1 high\n"), Catch::Contains("'high' is no whole number"));
  CHECK_THAT(qrels("1 0 m1 1\n1 0 m1 2\n"), Catch::Contains("line 2") && Catch::Contains("judged twice"));
}

}  // namespace
}  // namespace waymark
