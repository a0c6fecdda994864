#include "store/rows/byte_source.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "store/rows/line_reader.h"
#include "tests/store_rows/row_files.h"

namespace waymark {
namespace {

using tests::RowFiles;

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = packed.size();
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the zstd program does
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

absl::StatusOr<std::string> ReadWhole(const std::string& path) {
  auto source = ByteSource::Open(path);
  if (!source.ok()) return source.status();
  std::string text;
  char buffer[1000];
  while (true) {
    auto got = (*source)->Read(buffer, sizeof(buffer));
    if (!got.ok()) return got.status();
    if (*got == 0) break;
    text.append(buffer, *got);
  }
  CHECK((*source)->total_bytes() == (*source)->bytes_read());
  return text;
}

std::string LongText() {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919 % 100003) + "\n";
  return text;
}

TEST_CASE("gzip and zstd are found by their first bytes, whatever the file is called") {
  RowFiles files;
  const std::string text = LongText();
  CHECK(*ReadWhole(files.Write("plain.gz", text)) == text);
  CHECK(*ReadWhole(files.Write("packed.txt", Gzip(text))) == text);
  CHECK(*ReadWhole(files.Write("packed2.txt", Zstd(text))) == text);
}

TEST_CASE("packed files that were put one after the other are read as one text") {
  RowFiles files;
  CHECK(*ReadWhole(files.Write("two.gz", Gzip("a\n") + Gzip("b\n"))) == "a\nb\n");
  CHECK(*ReadWhole(files.Write("two.zst", Zstd("a\n") + Zstd("b\n"))) == "a\nb\n");
  CHECK(*ReadWhole(files.Write("none.gz", Gzip(""))) == "");
}

TEST_CASE("a packed file that is cut off or damaged is an error, not a short text") {
  RowFiles files;
  const std::string text = LongText();
  for (const std::string& packed : {Gzip(text), Zstd(text)}) {
    auto cut = ReadWhole(files.Write("cut", packed.substr(0, packed.size() / 2)));
    REQUIRE(cut.status().code() == absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(cut.status().message()), Catch::Contains("ends in the middle"));
    std::string damaged = packed;
    for (size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) damaged[i] ^= 0x55;
    CHECK(ReadWhole(files.Write("damaged", damaged)).status().code() == absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("a file that is not there and a folder are named in the error") {
  RowFiles files;
  CHECK(ByteSource::Open(files.Path("none")).status().code() == absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(ByteSource::Open(files.Path("none")).status().message()),
             Catch::Contains(files.Path("none")));
  CHECK_THAT(std::string(ByteSource::Open(files.Path("")).status().message()),
             Catch::Contains("is a folder"));
}

TEST_CASE("lines are numbered, a byte order mark is dropped, the last line needs no newline") {
  RowFiles files;
  auto source = ByteSource::Open(files.Write("lines",
                                             "\xEF\xBB\xBF"
                                             "one\r\n\nthree"));
  LineReader lines(source->get(), 100);
  CHECK(*lines.PeekFirst() == "one\r");
  Line line;
  REQUIRE(*lines.Next(&line));
  CHECK((line.number == 1 && line.text == "one\r"));
  REQUIRE(*lines.Next(&line));
  CHECK((line.number == 2 && line.text.empty()));
  REQUIRE(*lines.Next(&line));
  CHECK((line.number == 3 && line.text == "three"));
  CHECK_FALSE(*lines.Next(&line));
}

TEST_CASE("a line beyond the bound is passed over and the next one is read") {
  RowFiles files;
  auto source = ByteSource::Open(files.Write("long", "short\n" + std::string(3 << 20, 'x') + "\nafter\n"));
  LineReader lines(source->get(), 1 << 20);
  Line line;
  REQUIRE(*lines.Next(&line));
  CHECK(line.text == "short");
  REQUIRE(*lines.Next(&line));
  CHECK((line.too_long && line.number == 2 && line.text.empty()));
  REQUIRE(*lines.Next(&line));
  CHECK((line.text == "after" && line.number == 3 && !line.too_long));
  CHECK_FALSE(*lines.Next(&line));
}

TEST_CASE("UTF-16 is named as what it is") {
  RowFiles files;
  auto source = ByteSource::Open(files.Write("utf16", std::string("\xFF\xFEi\0d\0", 6)));
  LineReader lines(source->get(), 100);
  Line line;
  CHECK_THAT(std::string(lines.Next(&line).status().message()), Catch::Contains("UTF-16"));
}

}  // namespace
}  // namespace waymark
