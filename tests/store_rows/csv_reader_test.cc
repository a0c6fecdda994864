#include "store/rows/csv_reader.h"

#include <random>

#include "absl/strings/str_join.h"
#include "tests/store_rows/row_files.h"

namespace waymark {
namespace {

using tests::RowFiles;

struct Read {
  std::vector<CsvRecord> records;
  std::string Text() const {
    std::string text;
    for (const CsvRecord& r : records) {
      text +=
          std::to_string(r.line) + ":" + (r.refusal.empty() ? absl::StrJoin(r.cells, "|") : "refused") + ";";
    }
    return text;
  }
};

Read ReadCsv(const std::string& bytes, CsvOptions options = {}) {
  RowFiles files;
  auto source = ByteSource::Open(files.Write("a.csv", bytes));
  LineReader lines(source->get(), options.max_record_bytes);
  CsvReader reader(&lines, options);
  Read read;
  CsvRecord record;
  while (*reader.Next(&record)) read.records.push_back(record);
  return read;
}

TEST_CASE("the examples of RFC 4180 read as it says") {
  CHECK(ReadCsv("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n").Text() == "1:aaa|bbb|ccc;2:zzz|yyy|xxx;");
  CHECK(ReadCsv("aaa,bbb,ccc\r\nzzz,yyy,xxx").Text() == "1:aaa|bbb|ccc;2:zzz|yyy|xxx;");
  CHECK(ReadCsv("\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx").Text() == "1:aaa|b\r\nbb|ccc;3:zzz|yyy|xxx;");
  CHECK(ReadCsv("\"aaa\",\"b\"\"bb\",\"ccc\"").Text() == "1:aaa|b\"bb|ccc;");
}

TEST_CASE("empty cells, blank lines and a quote inside a plain cell are taken as they stand") {
  CHECK(ReadCsv("a,,\n\n,\"\",x\n5\" disk,b,c\n").Text() == "1:a||;3:||x;4:5\" disk|b|c;");
}

TEST_CASE("a quote that is never closed costs its own line only") {
  CHECK(ReadCsv("id,title\n1,\"broken\n2,fine\n3,fine too\n").Text() ==
        "1:id|title;2:refused;3:2|fine;4:3|fine too;");
}

TEST_CASE("text after a closing quote costs the record's first line only") {
  CHECK(ReadCsv("1,\"a\"b\n2,c\n").Text() == "1:refused;2:2|c;");
  CHECK(ReadCsv("1,\"a\n2,\"b\n3,c\n").Text() == "1:refused;2:refused;3:3|c;");
}

TEST_CASE("a quoted cell that grows beyond the bound is refused and the lines after it are read") {
  CsvOptions options;
  options.max_record_bytes = 100;
  std::string text = "1,\"open\n";
  for (int i = 2; i <= 40; ++i) text += std::to_string(i) + ",x\n";
  const Read read = ReadCsv(text, options);
  REQUIRE(read.records.size() == 40);
  CHECK_THAT(read.records[0].refusal, Catch::Contains("opening quote"));
  CHECK(read.records[39].cells == std::vector<std::string>{"40", "x"});
}

TEST_CASE("tabs separate, quotes can be plain characters, and bytes that are no UTF-8 are refused") {
  CsvOptions plain{.separator = '\t', .quotes = false};
  CHECK(ReadCsv("1\t\"The\" end\n2\t\"open\n", plain).Text() == "1:1|\"The\" end;2:2|\"open;");
  const Read read = ReadCsv("1,ok\n2,\xFF\n3,ok\n");
  CHECK(read.Text() == "1:1|ok;2:refused;3:3|ok;");
  CHECK_THAT(read.records[1].refusal, Catch::Contains("cell 2 is not UTF-8"));
}

TEST_CASE("what is written by the rules of RFC 4180 is read back, whatever it holds") {
  std::mt19937 random(7);
  const std::string alphabet = "ab,\"\n\r\t 1";
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<std::string>> rows(1 + random() % 5);
    std::string text;
    for (auto& row : rows) {
      row.resize(2 + random() % 3);
      for (size_t i = 0; i < row.size(); ++i) {
        const size_t length = random() % 6;
        for (size_t k = 0; k < length; ++k) row[i] += alphabet[random() % alphabet.size()];
        std::string quoted = "\"";
        for (char c : row[i]) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
        text += (i ? "," : "") + quoted + "\"";
      }
      text += round % 2 ? "\n" : "\r\n";
    }
    const Read read = ReadCsv(text);
    REQUIRE(read.records.size() == rows.size());
    for (size_t i = 0; i < rows.size(); ++i) REQUIRE(read.records[i].cells == rows[i]);
  }
}

}  // namespace
}  // namespace waymark
