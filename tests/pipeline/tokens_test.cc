#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "absl/strings/escaping.h"
#include "pipeline/page_list.h"
#include "pipeline/request_check.h"
#include "pipeline/served_features.h"
#include "pipeline/signed_token.h"
#include "tests/support/catch.h"
#include "waymark/storage/models.pb.h"

namespace waymark {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1700000000);

PageList SomeList() {
  PageList list;
  for (int i = 0; i < 30; ++i) list.items.push_back(1000 + i), list.scores.push_back(30.0f - i);
  list.next = 10;
  list.release_id = "r1";
  list.request_id = "abc";
  list.total = 345;
  return list;
}

TEST_CASE("a page token comes back as it was, for the same request") {
  const SigningKey key(std::string(32, 'k'));
  PipelineRequest request;
  request.query = "star wars";
  request.page_token = MakePageToken(key, request, SomeList(), kNow);
  const auto list = ReadPageToken(key, request, kNow + absl::Minutes(5));
  REQUIRE(list.ok());
  CHECK(list->items == SomeList().items);
  CHECK(list->next == 10);
  CHECK(list->release_id == "r1");
  CHECK(list->total == 345);
}

TEST_CASE("a page token with changed arguments, of another key, old or altered is refused") {
  const SigningKey key(std::string(32, 'k'));
  PipelineRequest request;
  request.query = "star wars";
  request.page_token = MakePageToken(key, request, SomeList(), kNow);
  PipelineRequest other = request;
  other.filter = "year > 1990";
  CHECK(absl::IsInvalidArgument(ReadPageToken(key, other, kNow).status()));
  other = request;
  other.page_size = 50;  // may change from page to page
  CHECK(ReadPageToken(key, other, kNow).ok());
  CHECK(absl::IsFailedPrecondition(ReadPageToken(key, request, kNow + absl::Hours(2)).status()));
  CHECK(absl::IsInvalidArgument(ReadPageToken(SigningKey(std::string(32, 'j')), request, kNow).status()));
  std::string raw;
  REQUIRE(absl::WebSafeBase64Unescape(request.page_token, &raw));
  for (size_t i = 0; i < raw.size(); ++i) {
    std::string altered = raw;
    altered[i] ^= 1;
    other = request;
    other.page_token = absl::WebSafeBase64Escape(altered);
    CHECK(!ReadPageToken(key, other, kNow).ok());
  }
  other.page_token = "hello";
  CHECK(absl::IsInvalidArgument(ReadPageToken(key, other, kNow).status()));
}

TEST_CASE("one kind of token is not taken for another") {
  const SigningKey key(std::string(32, 'k'));
  storage::PageState state;
  const std::string token = key.Sign("attribution_token", storage::Attribution());
  CHECK(!key.Verify("page_token", token, &state).ok());
}

TEST_CASE("the signing key is made once and stays") {
  const auto folder = std::filesystem::temp_directory_path() / ("waymark-key-" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto first = SigningKey::Open(folder, true), second = SigningKey::Open(folder, true);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  storage::Attribution attribution;
  CHECK(
      second->Verify("attribution_token", first->Sign("attribution_token", attribution), &attribution).ok());
  CHECK((std::filesystem::status(folder / "signing.key").permissions() &
         std::filesystem::perms::others_all) == std::filesystem::perms::none);
  std::ofstream(folder / "signing.key") << "short";
  CHECK(absl::IsDataLoss(SigningKey::Open(folder, true).status()));
  std::filesystem::remove_all(folder);
}

TEST_CASE("half precision as IEEE 754 has it") {
  // Bit patterns from the standard's examples.
  CHECK(ToHalf(1.0f) == 0x3C00);
  CHECK(ToHalf(-2.0f) == 0xC000);
  CHECK(ToHalf(65504.0f) == 0x7BFF);
  CHECK(ToHalf(65536.0f) == 0x7C00);
  CHECK(ToHalf(std::ldexp(1.0f, -24)) == 0x0001);
  CHECK(ToHalf(std::ldexp(1.0f, -14)) == 0x0400);
  CHECK(ToHalf(1.0f / 3) == 0x3555);
  CHECK(ToHalf(0.0f) == 0);
  CHECK(ToHalf(1.0f + std::ldexp(1.0f, -11)) == 0x3C00);      // halfway, to even
  CHECK(ToHalf(1.0f + 3 * std::ldexp(1.0f, -11)) == 0x3C02);  // halfway, to even
  for (uint32_t bits = 0; bits < 0x7C00; ++bits)
    REQUIRE(ToHalf(FromHalf(static_cast<uint16_t>(bits))) == bits);
}

TEST_CASE("requests that cannot be answered are refused with the field's name") {
  const auto message = [](const PipelineRequest& request) {
    return std::string(CheckRequest(request).message());
  };
  PipelineRequest request;
  CHECK(CheckRequest(request).ok());
  request.page_size = -1;
  CHECK(message(request).find("page_size: is -1") == 0);
  request = {};
  request.query = std::string(100 << 10, 'q');
  CHECK(message(request).find("query: has 102400 bytes") == 0);
  request = {};
  request.diversity = std::numeric_limits<double>::quiet_NaN();
  CHECK(message(request).find("diversity:") == 0);
  request = {};
  request.user_id = std::string(513, 'u');
  CHECK(message(request).find("user_id: the id has 513 bytes") == 0);
  request = {};
  request.kind = RequestKind::kRank;
  CHECK(message(request).find("candidates: 0 given") == 0);
  request.given.push_back({"m1", {{"charm", 1.0}}});
  CHECK(message(request).find("'charm'") != std::string::npos);
  request = {};
  request.page_size = 1000000;
  CHECK(EffectivePageSize(request) == kMaxPageSize);
  request.page_size = 0;
  CHECK(EffectivePageSize(request) == 10);
}

TEST_CASE("text of a request that is no UTF-8 is refused by the name of its field") {
  const std::string bad = "bad \xFF";
  const auto refused = [](const PipelineRequest& request, const std::string& field) {
    INFO(field);
    const absl::Status status = CheckRequest(request);
    CHECK(absl::IsInvalidArgument(status));
    CHECK_THAT(std::string(status.message()), Catch::StartsWith(field + ": ") && Catch::Contains("UTF-8"));
  };
  CHECK(CheckRequest({.query = "b\xC3\xA9"}).ok());
  refused({.query = bad}, "query");
  refused({.user_id = bad}, "user_id");
  refused({.visitor_id = bad}, "visitor_id");
  refused({.session_id = bad}, "session_id");
  refused({.surface = bad}, "surface");
  refused({.filter = bad}, "filter");
  refused({.context_items = {bad}}, "context_items");
  PipelineRequest request;
  (*request.context.mutable_fields())["country"].set_string_value(bad);
  refused(request, "context");
}

}  // namespace
}  // namespace waymark
