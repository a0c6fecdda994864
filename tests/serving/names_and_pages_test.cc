#include "serving/http/origin_rule.h"
#include "serving/list_page.h"
#include "serving/listen_address.h"
#include "serving/resource_name.h"
#include "serving/services/time_messages.h"
#include "tests/support/catch.h"

using namespace waymark;

TEST_CASE("Tenant and collection are default when left out") {
  CHECK(*ParseCollection("", "parent") == CollectionName{"default", "default"});
  CHECK(*ParseCollection("tenants/t", "parent") == CollectionName{"t", "default"});
  CHECK(*ParseCollection("collections/c", "parent") == CollectionName{"default", "c"});
  CHECK(*ParseCollection("tenants/t/collections/c", "parent") == CollectionName{"t", "c"});
  CHECK(*ParseTenant("", "parent") == "default");
  CHECK(*ParseTenant("tenants/t-1", "parent") == "t-1");
}

TEST_CASE("An id is the rest of the name, with its slashes") {
  CHECK(*ParseResource("items/a/b c:d", "items", "name") == ResourceName{{"default", "default"}, "a/b c:d"});
  CHECK(*ParseResource("tenants/t/collections/c/items/items/1", "items", "name") ==
        ResourceName{{"t", "c"}, "items/1"});
  CHECK(*ParseResource("users/u", "users", "name") == ResourceName{{"default", "default"}, "u"});
  CHECK(FormatResource({"t", "c"}, "items", "a/b") == "tenants/t/collections/c/items/a/b");
}

TEST_CASE("Names that are none are refused by field") {
  for (const char* text : {"tenants", "tenants/", "tenants/T", "tenants/a/b", "collections/a/", "shop",
                           "tenants/a/collections/b/items", "tenants//collections/c", "/tenants/a"}) {
    INFO(text);
    const auto name = ParseCollection(text, "parent");
    REQUIRE_FALSE(name.ok());
    CHECK(std::string(name.status().message()).find("parent: is '") == 0);
  }
  for (const char* text : {"", "items", "items/", "users/a", "tenants/t/items", "a", "x/items/a"}) {
    INFO(text);
    CHECK_FALSE(ParseResource(text, "items", "name").ok());
  }
  CHECK(ParseResource("items/" + std::string(512, 'x'), "items", "name").ok());
  CHECK_FALSE(ParseResource("items/" + std::string(513, 'x'), "items", "name").ok());
  CHECK_FALSE(ParseCollection("tenants/" + std::string(65, 'x'), "parent").ok());
}

TEST_CASE("Page sizes follow AIP-158") {
  CHECK(*ReadPageSize(0) == 100);
  CHECK(*ReadPageSize(1) == 1);
  CHECK(*ReadPageSize(1000) == 1000);
  CHECK(*ReadPageSize(1000000) == 1000);
  CHECK_FALSE(ReadPageSize(-1).ok());
}

TEST_CASE("A list token goes on where it was made, with the same arguments only") {
  const ListArguments arguments = {"ListItems", "", "year > 1990"};
  const std::string token = MakeListToken({7, 9}, arguments);
  CHECK(*ReadListToken(token, arguments) == ListPlace{7, 9});
  CHECK(*ReadListToken("", arguments) == ListPlace{0, 0});
  CHECK_FALSE(ReadListToken(token, {"ListItems", "", "year > 1991"}).ok());
  CHECK_FALSE(ReadListToken(token, {"ListUsers", "", "year > 1990"}).ok());
  // Where one argument ends and the next begins counts.
  CHECK_FALSE(ReadListToken(token, {"ListItems", "y", "ear > 1990"}).ok());
  CHECK_FALSE(ReadListToken("nonsense", arguments).ok());
  for (size_t i = 0; i < token.size(); ++i) {
    std::string damaged = token;
    damaged[i] = damaged[i] == 'A' ? 'B' : 'A';
    if (const auto read = ReadListToken(damaged, arguments); read.ok()) {
      // Only the unused bits of the last character may differ unseen.
      CHECK(*read == ListPlace{7, 9});
      CHECK(i + 2 >= token.size());
    }
  }
}

TEST_CASE("Addresses are read, and told apart by who can reach them") {
  CHECK(ParseListenAddress("127.0.0.1:7700", "--grpc")->port == 7700);
  CHECK(ParseListenAddress("[::1]:0", "--grpc")->host == "::1");
  CHECK(ParseListenAddress(":80", "--grpc")->host.empty());
  for (const char* text : {"", "7700", "host", "host:", "host:x", "host:65536", "::1:80", "unix:/tmp/x"}) {
    INFO(text);
    const auto address = ParseListenAddress(text, "--grpc");
    REQUIRE_FALSE(address.ok());
    CHECK(std::string(address.status().message()).find("--grpc: ") == 0);
  }
  CHECK(FormatListenAddress({"::1", 5}) == "[::1]:5");
  CHECK(IsLoopback({"127.0.0.1", 1}));
  CHECK(IsLoopback({"127.8.8.8", 1}));
  CHECK(IsLoopback({"::1", 1}));
  CHECK_FALSE(IsLoopback({"0.0.0.0", 1}));
  CHECK_FALSE(IsLoopback({"::", 1}));
  CHECK_FALSE(IsLoopback({"", 1}));
  CHECK_FALSE(IsLoopback({"10.0.0.1", 1}));
}

TEST_CASE("Pages of other origins may not call unless they are listed") {
  CHECK(CheckOrigin("", "127.0.0.1:7780", {}) == OriginVerdict::kSame);
  CHECK(CheckOrigin("http://127.0.0.1:7780", "127.0.0.1:7780", {}) == OriginVerdict::kSame);
  CHECK(CheckOrigin("http://evil.example", "127.0.0.1:7780", {}) == OriginVerdict::kRefused);
  CHECK(CheckOrigin("null", "127.0.0.1:7780", {}) == OriginVerdict::kRefused);
  CHECK(CheckOrigin("https://shop.example", "api:1", {"https://shop.example"}) == OriginVerdict::kAllowed);
  CHECK(CheckOrigin("https://shop.example.evil", "api:1", {"https://shop.example"}) ==
        OriginVerdict::kRefused);
  CHECK(CheckOrigin("https://any.example", "api:1", {"*"}) == OriginVerdict::kAllowed);
}

TEST_CASE("Timestamps keep their microseconds, before 1970 too") {
  google::protobuf::Timestamp stamp;
  SetTimestamp(-1, &stamp);
  CHECK(stamp.seconds() == -1);
  CHECK(stamp.nanos() == 999999000);
  CHECK(absl::ToUnixMicros(*ReadTimestamp(stamp, "time")) == -1);
  stamp.set_nanos(1000000000);
  CHECK_FALSE(ReadTimestamp(stamp, "time").ok());
  stamp.set_nanos(0);
  stamp.set_seconds(253402300800);  // the year 10000
  CHECK_FALSE(ReadTimestamp(stamp, "time").ok());
}
