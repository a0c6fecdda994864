#include "index/compiled_file.h"

#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "index/compiled_image.h"
#include "index/packed_column.h"
#include "index/posting_cursor.h"
#include "tests/index/indexed_collection.h"
#include "tests/support/catch.h"

namespace waymark::tests {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::string>;

TEST_CASE("numbers come out of a column as they went in") {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const size_t count = 1 + random() % (round % 10 == 0 ? 2000 : 128);
    const unsigned bits = random() % 33;
    std::vector<uint32_t> values(count);
    for (uint32_t& value : values) {
      value = bits == 0 ? 0 : static_cast<uint32_t>(random()) >> (32 - bits);
      if (random() % 20 == 0) value = static_cast<uint32_t>(random()) >> (random() % 32);
    }
    std::vector<uint8_t> bytes;
    AppendColumn(values, &bytes);
    const size_t size = bytes.size();
    bytes.resize(size + kUnpackSlack, 0xFF);
    REQUIRE(CheckColumn(bytes.data(), bytes.data() + size, count) == bytes.data() + size);
    std::vector<uint32_t> read(count + kUnpackPadding);
    REQUIRE(ReadColumn(bytes.data(), count, read.data()) == bytes.data() + size);
    read.resize(count);
    REQUIRE(read == values);
    for (int i = 0; i < 10; ++i) {
      const size_t at = random() % count;
      REQUIRE(ReadColumnAt(bytes.data(), count, at) == values[at]);
    }
    ColumnSlices slices(bytes.data(), count);
    for (size_t begin = 0; begin < count;) {
      const size_t end = std::min<size_t>(count, begin + random() % 60);
      std::vector<uint32_t> slice(ColumnSlices::Room(end - begin));
      const size_t first = slices.Read(begin, end, slice.data());
      REQUIRE(std::equal(values.begin() + begin, values.begin() + end, slice.begin() + first));
      begin = end + random() % 40;
    }
  }
}

std::shared_ptr<const CompiledSegment> SomeSegment(size_t fields) {
  std::mt19937 random(2);
  std::vector<ItemOrdinal> ordinals(900);
  for (ItemOrdinal& item : ordinals) item = random() % 5000;
  std::vector<std::string> names;
  for (size_t f = 0; f < fields; ++f) names.push_back(absl::StrCat("f", f));
  CompiledSegmentBuilder builder("_3", names, ordinals);
  for (int t = 10; t < 60; ++t) {
    builder.StartTerm(absl::StrCat("term", t));
    for (DocNumber doc = random() % t; doc < ordinals.size(); doc += 1 + random() % t) {
      const std::vector<int32_t> positions = {static_cast<int32_t>(random() % 9),
                                              9 + static_cast<int32_t>(random() % 9000)};
      builder.Add(doc, random() % fields, positions);
    }
  }
  return builder.Finish();
}

// A copy at an address that images begin at, with what keeps it.
struct Copy {
  std::shared_ptr<std::vector<uint8_t>> buffer;
  absl::Span<uint8_t> bytes;
  explicit Copy(absl::Span<const uint8_t> image)
      : buffer(std::make_shared<std::vector<uint8_t>>(image.size() + 64)) {
    uint8_t* begin = buffer->data() + (64 - reinterpret_cast<uintptr_t>(buffer->data()) % 64);
    std::memcpy(begin, image.data(), image.size());
    bytes = {begin, image.size()};
  }
  auto Open() const { return CompiledImage::Open(bytes, buffer); }
};

void ReadAll(const CompiledSegment& segment) {
  uint64_t sum = 0;
  for (TermIndex t = 0; t < segment.term_count(); ++t) {
    (void)segment.FindTerm(segment.term(t));
    PostingCursor cursor(segment, t);
    for (DocNumber doc = cursor.Advance(0); doc != kNoDoc; doc = cursor.Advance(doc + 1)) {
      for (size_t e = 0; e < cursor.entries().size(); ++e)
        sum += cursor.Positions(e).size() + segment.length(0, doc);
    }
  }
  for (ItemOrdinal item = 0; item < 5000; ++item) sum += segment.Find(item).has_value();
  CHECK(sum > 0);
}

TEST_CASE("an image opens as it was made, and no byte of it can change unseen") {
  for (size_t fields : {1, 3}) {
    const auto segment = SomeSegment(fields);
    const auto image = segment->image();
    const auto opened = Copy(image).Open();
    REQUIRE(opened.ok());
    CHECK((*opened)->name() == "_3");
    CHECK((*opened)->fields() == segment->fields());
    ReadAll(**opened);
    for (size_t i = 0; i < image.size(); i += std::max<size_t>(1, image.size() / 2000)) {
      Copy damaged(image);
      damaged.bytes[i] ^= static_cast<uint8_t>(1 << i % 8);
      REQUIRE_FALSE(damaged.Open().ok());
      Copy cut(image);
      cut.bytes = cut.bytes.subspan(0, i);
      REQUIRE_FALSE(cut.Open().ok());
    }
  }
}

TEST_CASE("an image that was made to mislead is refused or read within its bounds") {
  std::mt19937 random(3);
  int refused = 0, read = 0;
  for (size_t fields : {1, 3}) {
    const auto segment = SomeSegment(fields);
    for (int round = 0; round < 3000; ++round) {
      Copy forged(segment->image());
      for (unsigned n = 1 + random() % 3; n > 0; --n) {
        // Half of them in the header and the tables behind it.
        const size_t within =
            random() % 2 ? forged.bytes.size() : std::min<size_t>(forged.bytes.size(), 1024);
        forged.bytes[16 + random() % (within - 16)] = static_cast<uint8_t>(random());
      }
      const uint64_t hash = XXH3_64bits(forged.bytes.data() + 24, forged.bytes.size() - 24);
      std::memcpy(forged.bytes.data() + 16, &hash, sizeof(hash));
      const auto opened = forged.Open();
      opened.ok() ? ++read : ++refused;
      if (opened.ok()) ReadAll(**opened);
    }
  }
  CHECK(refused > 100);
  CHECK(read > 10);
}

std::vector<fs::path> CompiledFiles(const IndexedCollection& shop) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(shop.index_folder())) {
    if (entry.path().extension() == ".postings") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Bytes(const fs::path& file) {
  std::ifstream input(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), {}};
}

TEST_CASE("compiled files lie beside their segments, are used, and are made again when missing or damaged") {
  IndexedCollection shop;
  shop.Declare({{"title", 2}, {"text", 1}});
  for (int i = 0; i < 200; ++i) {
    shop.Put(absl::StrCat("i", i),
             {{"title", i % 3 ? "star wars" : "star trek"}, {"text", absl::StrCat("part ", i)}});
    if (i % 90 == 0) shop.CatchUp();
  }
  shop.Delete("i7");
  shop.CatchUp();
  REQUIRE(shop.index->Commit().ok());
  const auto answers = [&] { return shop.Search("trek part 7 \"star wars\"", 300); };
  const Ids expected = answers();
  const std::vector<fs::path> files = CompiledFiles(shop);
  REQUIRE(!files.empty());
  REQUIRE(files.size() == static_cast<size_t>(shop.index->status().segments));
  shop.CloseIndex();

  const auto used = fs::last_write_time(files[0]);
  shop.OpenIndex();
  CHECK(answers() == expected);
  CHECK(CompiledFiles(shop) == files);
  CHECK(fs::last_write_time(files[0]) == used);
  shop.CloseIndex();

  const std::string intact = Bytes(files[0]);
  for (int kind = 0; kind < 130; ++kind) {
    std::string bytes = intact;
    if (kind < 64) {
      bytes[bytes.size() * kind / 64] ^= 0x10;
    } else if (kind < 128) {
      bytes.resize(bytes.size() * (kind - 64) / 64);
    }
    INFO("damage " << kind);
    std::ofstream(files[0], std::ios::binary) << bytes;
    if (kind == 129) fs::remove(files[0]);
    shop.OpenIndex();
    REQUIRE(answers() == expected);
    REQUIRE(shop.index->status().rebuild_reason.empty());
    REQUIRE(Bytes(files[0]) == intact);
    shop.CloseIndex();
  }
}

TEST_CASE("what was deleted when a file was made, but not in the commit that is opened, is not lost") {
  IndexedCollection shop;
  shop.Declare({{"title", 1}});
  shop.Put("1", {{"title", "star"}});
  shop.Put("2", {{"title", "star"}});
  shop.CatchUp();
  REQUIRE(shop.index->Commit().ok());
  const auto files = CompiledFiles(shop);
  REQUIRE(files.size() == 1);
  const auto segment = ReadCompiled(files[0]);
  REQUIRE(segment.ok());
  shop.CloseIndex();
  // The same segment as it would be compiled after item 1 was deleted.
  CompiledSegmentBuilder builder((*segment)->name(), (*segment)->fields(), {kNoItem, (*segment)->ordinal(1)});
  builder.StartTerm("star");
  builder.Add(1, 0, {0});
  const auto later = builder.Finish();
  std::ofstream(files[0], std::ios::binary)
      << std::string_view(reinterpret_cast<const char*>(later->image().data()), later->image().size());
  shop.OpenIndex();
  CHECK(shop.Search("star") == Ids{"1", "2"});
}

}  // namespace
}  // namespace waymark::tests
