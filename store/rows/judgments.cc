#include "store/rows/judgments.h"

#include <functional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "store/rows/byte_source.h"
#include "store/rows/line_reader.h"
#include "store/rows/utf8.h"

namespace waymark {
namespace {

// `take` says what is wrong with a line; empty when nothing is.
absl::Status ForEachLine(const std::string& path, const std::function<std::string(absl::string_view)>& take) {
  auto source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  LineReader lines(source->get(), 1 << 20);
  Line line;
  bool any = false;
  while (true) {
    auto more = lines.Next(&line);
    if (!more.ok())
      return absl::Status(more.status().code(), absl::StrCat(path, ": ", more.status().message()));
    if (!*more) break;
    absl::string_view text(line.text);
    text = absl::StripTrailingAsciiWhitespace(text);
    if (text.empty() && !line.too_long) continue;
    any = true;
    std::string problem;
    if (line.too_long) {
      problem = "the line is longer than 1 MB";
    } else if (FindInvalidUtf8(text) != absl::string_view::npos) {
      problem = "the line is not UTF-8";
    } else {
      problem = take(text);
    }
    if (!problem.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ", line ", line.number, ": ", problem));
    }
  }
  return any ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrCat(path, " is empty"));
}

}  // namespace

absl::StatusOr<std::vector<JudgedQuery>> ReadQueries(const std::string& path) {
  std::vector<JudgedQuery> queries;
  std::set<std::string> seen;
  auto status = ForEachLine(path, [&](absl::string_view line) -> std::string {
    const std::vector<absl::string_view> columns = absl::StrSplit(line, absl::MaxSplits('\t', 1));
    if (columns.size() != 2 || columns[0].empty()) return "a query is id<TAB>text";
    if (!seen.insert(std::string(columns[0])).second)
      return absl::StrCat("the query ", Quoted(columns[0]), " stands there twice");
    queries.push_back({std::string(columns[0]), std::string(columns[1])});
    return "";
  });
  if (!status.ok()) return status;
  return queries;
}

absl::StatusOr<Judgments> ReadJudgments(const std::string& path) {
  Judgments judgments;
  auto status = ForEachLine(path, [&](absl::string_view line) -> std::string {
    const std::vector<absl::string_view> columns =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int grade;
    if (columns.size() != 4)
      return absl::StrCat("a judgment has four columns (query 0 item grade), this line has ", columns.size());
    if (!absl::SimpleAtoi(columns[3], &grade))
      return absl::StrCat("the grade ", Quoted(columns[3]), " is no whole number");
    const auto [place, is_new] = judgments[std::string(columns[0])].emplace(std::string(columns[2]), grade);
    if (is_new || place->second == grade) return "";
    return absl::StrCat("item ", Quoted(columns[2]), " is judged twice for query ", Quoted(columns[0]),
                        ", as ", place->second, " and ", grade);
  });
  if (!status.ok()) return status;
  return judgments;
}

}  // namespace waymark
