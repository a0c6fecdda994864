#include "store/log_position.h"

#include "absl/strings/escaping.h"
#include "tests/support/catch.h"

namespace waymark {

static LogPosition Position(std::vector<std::array<uint64_t, 3>> parts) {
  LogPosition position;
  for (const auto& [partition, epoch, offset] : parts) {
    auto* part = position.add_parts();
    part->set_partition(static_cast<uint32_t>(partition));
    part->set_epoch(epoch);
    part->set_offset(offset);
  }
  return position;
}

TEST_CASE("a position covers what is not beyond it, partition by partition") {
  const uint64_t epoch = 9;
  CHECK(Covers(Position({{0, epoch, 5}}), Position({{0, epoch, 5}})));
  CHECK(Covers(Position({{0, epoch, 6}}), Position({{0, epoch, 5}})));
  CHECK_FALSE(Covers(Position({{0, epoch, 4}}), Position({{0, epoch, 5}})));
  // One partition ahead does not make up for another behind.
  CHECK_FALSE(Covers(Position({{0, epoch, 9}, {1, epoch, 4}}), Position({{0, epoch, 5}, {1, epoch, 5}})));
  CHECK(Covers(Position({{1, epoch, 5}, {0, epoch, 9}}), Position({{0, epoch, 5}, {1, epoch, 5}})));
  // A partition that is lacking counts as not seen; one more does not matter.
  CHECK_FALSE(Covers(Position({{0, epoch, 9}}), Position({{1, epoch, 1}})));
  CHECK(Covers(Position({{0, epoch, 9}, {3, epoch, 1}}), Position({{0, epoch, 5}})));
  // Before all is covered by anything; another epoch by nothing.
  CHECK(Covers(LogPosition(), LogPosition()));
  CHECK(Covers(LogPosition(), Position({{0, epoch, 0}})));
  CHECK_FALSE(Covers(Position({{0, epoch + 1, 9}}), Position({{0, epoch, 5}})));
}

TEST_CASE("a consistency token brings its position back") {
  for (const LogPosition& position : {LogPosition(), EmbeddedPosition(0xFFFFFFFFFFFFFFFF, 1),
                                      EmbeddedPosition(3, 0xFFFFFFFFFF), Position({{0, 1, 2}, {7, 8, 9}})}) {
    const std::string token = EncodeConsistencyToken(position);
    CHECK(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
          std::string::npos);
    auto decoded = DecodeConsistencyToken(token);
    REQUIRE(decoded.ok());
    CHECK(decoded->SerializeAsString() == position.SerializeAsString());
  }
}

TEST_CASE("a token that was changed or made up is refused") {
  const std::string token = EncodeConsistencyToken(EmbeddedPosition(77, 1234));
  for (size_t i = 0; i < token.size(); ++i) {
    std::string changed = token;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    if (absl::IsInvalidArgument(DecodeConsistencyToken(changed).status())) continue;
    // Only the unused bits of the last character may differ without harm.
    CHECK(i + 1 == token.size());
  }
  for (const char* made_up :
       {"", "hello", "====", "AQ", "\xff\xff", "1234567890123456789012345678901234567890"}) {
    auto decoded = DecodeConsistencyToken(made_up);
    CHECK(absl::IsInvalidArgument(decoded.status()));
    CHECK(std::string(decoded.status().message()).find("consistency_token") != std::string::npos);
  }
}

TEST_CASE("a position of another epoch or of several partitions is not this folder's") {
  CHECK(EmbeddedOffset(EmbeddedPosition(5, 42), 5).value() == 42);
  CHECK(EmbeddedOffset(LogPosition(), 5).value() == 0);
  CHECK(absl::IsInvalidArgument(EmbeddedOffset(EmbeddedPosition(6, 42), 5).status()));
  CHECK(absl::IsInvalidArgument(EmbeddedOffset(Position({{0, 5, 1}, {1, 5, 1}}), 5).status()));
  CHECK(absl::IsInvalidArgument(EmbeddedOffset(Position({{1, 5, 1}}), 5).status()));
}

}  // namespace waymark
