#include "training/shards/record_frames.h"

#include "store/package/crc32c.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("CRC-32C gives the values of RFC 3720") {
  // Appendix B.4 of RFC 3720.
  CHECK(Crc32c(std::string(32, '\0')) == 0x8a9136aau);
  CHECK(Crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) {
    rising += static_cast<char>(i);
    falling += static_cast<char>(31 - i);
  }
  CHECK(Crc32c(rising) == 0x46dd794eu);
  CHECK(Crc32c(falling) == 0x113fdb5cu);
  CHECK(Crc32c("123456789") == 0xe3069283u);
  CHECK(Crc32c("") == 0);
}

TEST_CASE("A record is framed as TFRecord files are") {
  std::string file;
  AppendRecord("123456789", &file);
  REQUIRE(file.size() == 8 + 4 + 9 + 4);
  CHECK(file.substr(0, 8) == std::string("\x09\0\0\0\0\0\0\0", 8));
  CHECK(file.substr(12, 9) == "123456789");
  // The mask: rotated right by 15, plus 0xa282ead8.
  const uint32_t crc = 0xe3069283u, masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
  std::string last;
  for (int i = 0; i < 4; ++i) last += static_cast<char>(masked >> (8 * i));
  CHECK(file.substr(21) == last);
}

TEST_CASE("What was framed is read again, and every changed byte is seen") {
  std::string file;
  const std::vector<std::string> payloads = {"", "a", std::string(1000, 'x'), std::string("\0\1\2", 3)};
  for (const std::string& payload : payloads) AppendRecord(payload, &file);
  RecordFrames frames(file);
  std::string_view payload;
  for (const std::string& expected : payloads) {
    REQUIRE(frames.Next(&payload));
    CHECK(payload == expected);
  }
  CHECK_FALSE(frames.Next(&payload));
  CHECK(frames.status().ok());
  for (size_t i = 0; i < file.size(); ++i) {
    std::string damaged = file;
    damaged[i] ^= 4;
    RecordFrames of_damaged(damaged);
    while (of_damaged.Next(&payload)) {
    }
    INFO("byte " << i);
    CHECK(absl::IsDataLoss(of_damaged.status()));
  }
  for (size_t length = 0; length < file.size(); ++length) {
    RecordFrames cut(std::string_view(file).substr(0, length));
    size_t read = 0;
    while (cut.Next(&payload)) ++read;
    // Where it is cut between two records nothing can be seen here; the index's counts see it.
    const bool between = length == 0 || length == 16 || length == 33 || length == 1049;
    CHECK(cut.status().ok() == between);
    if (!between) CHECK_THAT(std::string(cut.status().message()), Contains("is cut off"));
  }
}

}  // namespace
}  // namespace waymark
