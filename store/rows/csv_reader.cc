#include "store/rows/csv_reader.h"

#include "absl/strings/str_cat.h"
#include "store/rows/utf8.h"

namespace waymark {

namespace {

// Splits a record into cells, line by line.
class RecordParser {
 public:
  RecordParser(const CsvOptions& options, std::vector<std::string>* cells)
      : options_(options), cells_(cells) {}

  bool inside_quotes() const { return state_ == State::kQuoted; }
  const std::string& problem() const { return problem_; }

  void TakeNewline() { cell_.push_back('\n'); }
  // The text of one line; a carriage return at its end belongs to the line's end unless it stands in quotes.
  void TakeLine(absl::string_view text) {
    for (size_t i = 0; i < text.size() && problem_.empty(); ++i) {
      if (text[i] == '\r' && i + 1 == text.size() && state_ != State::kQuoted) break;
      Take(text[i]);
    }
    if (state_ != State::kQuoted && problem_.empty()) EndCell();
  }

 private:
  enum class State { kStart, kPlain, kQuoted, kAfterQuote };

  void Take(char c) {
    switch (state_) {
      case State::kStart:
        if (c == '"' && options_.quotes) {
          state_ = State::kQuoted;
          return;
        }
        state_ = State::kPlain;
        [[fallthrough]];
      case State::kPlain:
        if (c == options_.separator) return EndCell();
        cell_.push_back(c);
        return;
      case State::kQuoted:
        if (c == '"') {
          state_ = State::kAfterQuote;
        } else {
          cell_.push_back(c);
        }
        return;
      case State::kAfterQuote:
        if (c == '"') {
          cell_.push_back('"');
          state_ = State::kQuoted;
        } else if (c == options_.separator) {
          EndCell();
        } else {
          problem_ = absl::StrCat("cell ", cells_->size() + 1, " goes on after its closing quote, with ",
                                  Quoted(absl::string_view(&c, 1)),
                                  "; a quote inside a quoted cell is written twice");
        }
    }
  }
  void EndCell() {
    cells_->push_back(std::move(cell_));
    cell_.clear();
    state_ = State::kStart;
  }

  const CsvOptions& options_;
  std::vector<std::string>* cells_;
  State state_ = State::kStart;
  std::string cell_, problem_;
};

}  // namespace

absl::StatusOr<bool> CsvReader::NextLine(PhysicalLine* line) {
  if (!again_.empty()) {
    *line = std::move(again_.front());
    again_.pop_front();
    return true;
  }
  Line next;
  auto more = lines_->Next(&next);
  if (!more.ok() || !*more) return more;
  *line = {next.number, std::string(next.text), next.too_long};
  return true;
}

absl::StatusOr<bool> CsvReader::Next(CsvRecord* record) {
  *record = {};
  PhysicalLine first;
  do {
    auto more = NextLine(&first);
    if (!more.ok() || !*more) return more;
  } while (!first.too_long && (first.text.empty() || first.text == "\r"));

  record->line = first.number;
  if (first.too_long) {
    record->refusal = absl::StrCat("the line is longer than ", options_.max_record_bytes, " bytes");
    return true;
  }
  RecordParser parser(options_, &record->cells);
  parser.TakeLine(first.text);
  std::vector<PhysicalLine> rest;
  size_t bytes = first.text.size();
  while (parser.inside_quotes()) {
    PhysicalLine line;
    auto more = NextLine(&line);
    if (!more.ok()) return more;
    if (!*more || line.too_long || bytes + line.text.size() > options_.max_record_bytes) {
      record->refusal =
          absl::StrCat("cell ", record->cells.size() + 1, " has an opening quote without a closing one",
                       *more ? absl::StrCat(" within ", options_.max_record_bytes, " bytes") : "");
      if (*more) rest.push_back(std::move(line));
      break;
    }
    bytes += line.text.size() + 1;
    parser.TakeNewline();
    parser.TakeLine(line.text);
    rest.push_back(std::move(line));
  }
  if (!parser.problem().empty()) record->refusal = parser.problem();
  if (record->refusal.empty()) {
    for (size_t i = 0; i < record->cells.size(); ++i) {
      if (FindInvalidUtf8(record->cells[i]) == absl::string_view::npos) continue;
      record->refusal = absl::StrCat("cell ", i + 1, " is not UTF-8: ", Quoted(record->cells[i]));
      break;
    }
    if (record->refusal.empty()) return true;
    rest.clear();  // the record was whole
  }
  record->cells.clear();
  again_.insert(again_.begin(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  return true;
}

}  // namespace waymark
