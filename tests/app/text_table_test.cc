#include "app/text_table.h"

#include <clocale>

#include "tests/support/catch.h"

namespace waymark {
namespace {

TEST_CASE("numbers stand to the right and text to the left") {
  TextTable table({{"rank", TextTable::kRight}, {"title", TextTable::kText}});
  table.Add({"1", "Toy Story"});
  table.Add({"10", "Heat"});
  table.AddNote("    because");
  CHECK(table.Render(80) == "rank  title\n   1  Toy Story\n  10  Heat\n    because\n");
}

TEST_CASE("the widest column of text gives way when the table is too wide") {
  TextTable table({{"id", TextTable::kWhole}, {"title", TextTable::kText}});
  table.Add({"0123456789", "A rather long title that does not fit"});
  CHECK(table.Render(30) == "id          title\n0123456789  A rather long tit\xE2\x80\xA6\n");
}

TEST_CASE("width counts characters as the terminal shows them") {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  CHECK(DisplayWidth("caf\xC3\xA9") == 4);
  CHECK(DisplayWidth("\xE4\xB8\x83\xE4\xBA\xBA") == 4);  // two wide ones
  CHECK(CutToWidth("\xE4\xB8\x83\xE4\xBA\xBA\xE4\xBE\x8D", 5) == "\xE4\xB8\x83\xE4\xBA\xBA\xE2\x80\xA6");
  CHECK(CutToWidth("caf\xC3\xA9s", 4) == "caf\xE2\x80\xA6");
}

TEST_CASE("what stands in a catalogue cannot move the cursor") {
  TextTable table({{"title", TextTable::kText}});
  table.Add({"a\033[2Jb\nc"});
  CHECK(table.Render(80) == "title\na [2Jb c\n");
}

}  // namespace
}  // namespace waymark
