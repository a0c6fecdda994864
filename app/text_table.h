// Tables for people, as wide as the terminal: columns of text give way, numbers stand to the right.
//
//   TextTable table({{"rank", TextTable::kRight}, {"title", TextTable::kText}});
//   table.Add({"1", "Toy Story"});
//   std::fputs(table.Render(80).c_str(), stdout);
#pragma once
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/timestamp.pb.h"

namespace waymark {

class TextTable {
 public:
  enum Kind {
    kText,   // cut when the table is too wide
    kRight,  // to the right, never cut
    kWhole,  // to the left, never cut
  };
  struct Column {
    std::string title;
    Kind kind = kText;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as there are columns. Control characters become blanks: what stands in a catalogue must not
  // move the terminal's cursor.
  void Add(std::vector<std::string> cells);
  // A line below the last row, as it is.
  void AddNote(const std::string& line);
  std::string Render(int width) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> notes;
  };
  std::vector<int> Widths(int width) const;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// Columns of the terminal that UTF-8 text takes.
int DisplayWidth(absl::string_view text);
// At most `width` columns of it, with an ellipsis where it was cut.
std::string CutToWidth(absl::string_view text, int width);
// Of standard output; 120 where that is no terminal.
int TerminalWidth();
// As rows hold times, in UTC.
std::string TimeText(const google::protobuf::Timestamp& time);

}  // namespace waymark
