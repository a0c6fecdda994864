#include "catalog/columns_file.h"

#include <fstream>
#include <sstream>

#include "catalog/column_bytes.h"
#include "tests/catalog/shop.h"

namespace waymark {
namespace {

std::string ReadFile(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

void WriteFile(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

absl::Status WriteParts(const std::filesystem::path& file, const std::vector<std::string>& parts) {
  ColumnsHeader header{.epoch = 5, .position = 77};
  header.schema.set_language("english");
  return WriteColumnsFile(file, header, parts.size(), [&](size_t part, std::string* out) {
    *out = parts[part];
    return absl::OkStatus();
  });
}

absl::Status ReadParts(const std::filesystem::path& file, std::vector<std::string>* parts) {
  parts->clear();
  return ReadColumnsFile(
      file,
      [&](const ColumnsHeader& header, size_t count) {
        CHECK(header.epoch == 5);
        CHECK(header.position == 77);
        CHECK(header.schema.language() == "english");
        CHECK(count < 10);
        return absl::OkStatus();
      },
      [&](size_t part, std::string_view bytes) {
        CHECK(part == parts->size());
        parts->emplace_back(bytes);
        return absl::OkStatus();
      });
}

TEST_CASE("A column file gives back what was written") {
  tests::Folder folder;
  const auto file = folder.path() / "a" / "columns";
  const std::vector<std::string> parts = {"one", "", std::string(100000, 'x')};
  REQUIRE(WriteParts(file, parts).ok());
  std::vector<std::string> read;
  REQUIRE(ReadParts(file, &read).ok());
  CHECK(read == parts);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "a" / "columns.new"));
  CHECK(ReadParts(folder.path() / "none", &read).code() == absl::StatusCode::kNotFound);
}

TEST_CASE("A failed write leaves the file that was there") {
  tests::Folder folder;
  const auto file = folder.path() / "columns";
  REQUIRE(WriteParts(file, {"old"}).ok());
  const absl::Status failed =
      WriteColumnsFile(file, {}, 1, [](size_t, std::string*) { return absl::AbortedError("stop"); });
  CHECK(failed == absl::AbortedError("stop"));
  std::vector<std::string> read;
  REQUIRE(ReadParts(file, &read).ok());
  CHECK(read == std::vector<std::string>{"old"});
}

TEST_CASE("A byte changed, cut or added anywhere in a column file is noticed") {
  tests::Folder folder;
  const auto file = folder.path() / "columns";
  REQUIRE(WriteParts(file, {"some part", std::string(50, 'y'), ""}).ok());
  const std::string intact = ReadFile(file);
  std::vector<std::string> read;
  for (size_t at = 0; at < intact.size(); ++at) {
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string damaged = intact;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      WriteFile(file, damaged);
      INFO("byte " << at << " xor " << flip);
      REQUIRE(ReadParts(file, &read).code() == absl::StatusCode::kDataLoss);
    }
    WriteFile(file, intact.substr(0, at));
    INFO("cut at " << at);
    REQUIRE(ReadParts(file, &read).code() == absl::StatusCode::kDataLoss);
  }
  WriteFile(file, intact + "x");
  CHECK(ReadParts(file, &read).code() == absl::StatusCode::kDataLoss);
  WriteFile(file, intact);
  CHECK(ReadParts(file, &read).ok());
}

TEST_CASE("Counts in a column's bytes are bounded by what is there") {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Put<uint64_t>(uint64_t{1} << 60);
  std::vector<uint64_t> values;
  CHECK_FALSE(ByteReader(bytes).GetArray(&values));
  std::string text;
  CHECK_FALSE(ByteReader("\xFF\xFF\xFF\x7F"
                         "abc")
                  .GetText(&text));
}

}  // namespace
}  // namespace waymark
