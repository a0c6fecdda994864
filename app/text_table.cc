#include "app/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>

#include "store/rows/row_time.h"

namespace waymark {

namespace {

// The character at `at` and its length; what is no UTF-8 counts byte by byte.
char32_t Decode(absl::string_view text, size_t at, size_t* length) {
  const unsigned char first = text[at];
  *length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (*length == 1 || at + *length > text.size()) {
    *length = 1;
    return first;
  }
  char32_t code = first & (0xFF >> (*length + 1));
  for (size_t i = 1; i < *length; ++i) code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3F);
  return code;
}

int WidthOf(char32_t code) {
  if (code < 0x80) return 1;
  const int width = wcwidth(static_cast<wchar_t>(code));
  return width < 0 ? 1 : width;
}

constexpr int kGap = 2;
constexpr int kNarrowest = 8;

std::string Clean(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

}  // namespace

int DisplayWidth(absl::string_view text) {
  int width = 0;
  size_t length = 0;
  for (size_t at = 0; at < text.size(); at += length) width += WidthOf(Decode(text, at, &length));
  return width;
}

std::string CutToWidth(absl::string_view text, int width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  int taken = 0;
  size_t at = 0, length = 0;
  while (at < text.size()) {
    const int next = WidthOf(Decode(text, at, &length));
    if (taken + next > width - 1) break;
    taken += next;
    at += length;
  }
  return std::string(text.substr(0, at)) + "\xE2\x80\xA6";
}

int TerminalWidth() {
  winsize size = {};
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
    return size.ws_col;
  return 120;
}

void TextTable::Add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = Clean(std::move(cell));
  rows_.push_back({std::move(cells), {}});
}

void TextTable::AddNote(const std::string& line) {
  if (!rows_.empty()) rows_.back().notes.push_back(Clean(line));
}

std::vector<int> TextTable::Widths(int width) const {
  std::vector<int> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    int widest = DisplayWidth(columns_[i].title);
    for (const Row& row : rows_) widest = std::max(widest, DisplayWidth(row.cells[i]));
    widths.push_back(widest);
  }
  int total = kGap * (static_cast<int>(widths.size()) - 1);
  for (const int w : widths) total += w;
  while (total > width) {  // the widest column of text gives way
    int victim = -1;
    for (size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].kind != kText || widths[i] <= kNarrowest) continue;
      if (victim < 0 || widths[i] > widths[victim]) victim = static_cast<int>(i);
    }
    if (victim < 0) break;
    --widths[victim];
    --total;
  }
  return widths;
}

std::string TextTable::Render(int width) const {
  const std::vector<int> widths = Widths(width);
  std::string text;
  auto line = [&](const auto& cell_of) {
    std::string out;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = columns_[i].kind == kText ? CutToWidth(cell_of(i), widths[i]) : cell_of(i);
      const std::string padding(std::max(0, widths[i] - DisplayWidth(cell)), ' ');
      if (i > 0) out.append(kGap, ' ');
      out += columns_[i].kind == kRight ? padding + cell : cell + padding;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  line([this](size_t i) { return columns_[i].title; });
  for (const Row& row : rows_) {
    line([&row](size_t i) { return row.cells[i]; });
    for (const std::string& note : row.notes) text += note + "\n";
  }
  return text;
}

std::string TimeText(const google::protobuf::Timestamp& time) {
  return FormatRowTime(absl::FromUnixSeconds(time.seconds()));
}

}  // namespace waymark
