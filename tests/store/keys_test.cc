#include "store/keys.h"

#include <random>

#include "tests/support/catch.h"

namespace waymark {

static std::string Bytes(std::initializer_list<int> list) {
  std::string bytes;
  for (int byte : list) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

TEST_CASE("keys are big-endian and begin with tenant and collection") {
  CHECK(LogKey({1, 2}, 0x0102030405060708) == Bytes({0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(ItemKey({1, 2}, 0xFFFE0001) == Bytes({0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFE, 0, 1}));
  CHECK(UserIdKey({1, 2}, true, "ab") == Bytes({0, 0, 0, 1, 0, 0, 0, 2, 'v', 'a', 'b'}));
  CHECK(UserIdKey({1, 2}, false, "ab") == Bytes({0, 0, 0, 1, 0, 0, 0, 2, 'u', 'a', 'b'}));
  // One microsecond after the epoch: the sign bit is flipped.
  CHECK(HistoryKey({0, 1}, 5, {1, 3, 0x0201}) == Bytes({0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0x80,
                                                        0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 2, 1}));
}

TEST_CASE("numbers come back out of keys") {
  CHECK(ItemOfKey(ItemKey({7, 9}, 0xDEADBEEF)) == 0xDEADBEEF);
  CHECK(UserOfKey(UserKey({7, 9}, 0x123456789ABCDEF0)) == 0x123456789ABCDEF0);
  CHECK(OffsetOfLogKey(LogKey({7, 9}, 1234567890123)) == 1234567890123);
  const std::string key = HistoryKey({7, 9}, 42, {-5, 6, 65535});
  CHECK(UserOfHistoryKey(key) == 42);
  REQUIRE(PlaceOfHistoryKey(key).has_value());
  CHECK(PlaceOfHistoryKey(key)->time_us == -5);
  CHECK(PlaceOfHistoryKey(key)->offset == 6);
  CHECK(PlaceOfHistoryKey(key)->item_index == 65535);
  CHECK_FALSE(PlaceOfHistoryKey(key.substr(1)).has_value());
}

TEST_CASE("the order of history keys is scope, user, time, offset, place") {
  std::mt19937_64 random(1);
  const auto pick = [&](std::initializer_list<int64_t> from) { return from.begin()[random() % from.size()]; };
  const auto make = [&] {
    return std::tuple<Scope, UserNumber, int64_t, LogOffset, uint16_t>(
        {static_cast<uint32_t>(pick({1, 2, 256})), static_cast<uint32_t>(pick({1, 255, 256}))},
        static_cast<UserNumber>(pick({1, 2, 255, 256, int64_t{1} << 40})),
        pick({-(int64_t{1} << 50), -1, 0, 1, 255, 256, int64_t{1} << 50}),
        static_cast<LogOffset>(pick({1, 2, 256, int64_t{1} << 33})),
        static_cast<uint16_t>(pick({0, 1, 255, 256})));
  };
  const auto key = [](const auto& t) {
    return HistoryKey(std::get<0>(t), std::get<1>(t), {std::get<2>(t), std::get<3>(t), std::get<4>(t)});
  };
  for (int i = 0; i < 20000; ++i) {
    const auto a = make(), b = make();
    REQUIRE((a < b) == (key(a) < key(b)));
  }
}

TEST_CASE("a prefix's end is the first key after all that begin with it") {
  CHECK(PrefixEnd("ab") == "ac");
  CHECK(PrefixEnd(Bytes({1, 0xFF})) == Bytes({2}));
  CHECK(PrefixEnd(Bytes({0xFF, 0xFF})).empty());
}

TEST_CASE("event id keys hold a hash, not the text") {
  const std::string key = EventIdKey({1, 1}, "purchase-of-alice");
  CHECK(key.size() == kScopeBytes + 16);
  CHECK(key.find("alice") == std::string::npos);
  CHECK(key == EventIdKey({1, 1}, "purchase-of-alice"));
  CHECK(key != EventIdKey({1, 1}, "purchase-of-alicf"));
  CHECK(key != EventIdKey({1, 2}, "purchase-of-alice"));
}

}  // namespace waymark
