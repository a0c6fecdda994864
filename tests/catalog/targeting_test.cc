#include "catalog/targeting.h"

#include "tests/store/fixture.h"

namespace waymark {
namespace {

using tests::Fields;
using tests::Number;
using tests::Text;

bool Matches(const std::string& filter, const google::protobuf::Struct& context,
             std::vector<Field> declared = {}) {
  const auto targeting = Targeting::Parse(filter, declared);
  INFO(filter << ": " << targeting.status().ToString());
  REQUIRE(targeting.ok());
  return targeting->Matches(context);
}

TEST_CASE("Targeting speaks the grammar of filters over the context") {
  const auto german = Fields({{"country", Text("DE")}, {"platform", Text("Web")}, {"age", Number(30)}});
  CHECK(Matches("", german));
  CHECK(Matches("country = \"DE\"", german));
  CHECK_FALSE(Matches("country = \"de\"", german));
  CHECK(Matches("country:de AND platform:web", german));
  CHECK(Matches("country IN (\"AT\", \"DE\")", german));
  CHECK_FALSE(Matches("NOT country = \"DE\"", german));
  CHECK(Matches("country != \"FR\"", german));
  CHECK(Matches("platform:*", german));
  CHECK_FALSE(Matches("locale:*", german));
  CHECK_FALSE(Matches("locale != \"en\"", german));
  CHECK(Matches("NOT locale = \"en\"", german));
  Field age;
  age.set_name("age");
  age.set_type(storage::FieldRecord::INTEGER);
  CHECK(Matches("age >= 18 (country:fr OR country:de)", german, {age}));
  CHECK_FALSE(Matches("age:40..50", german, {age}));
}

TEST_CASE("Targeting that names an unknown field is refused with the nearest one") {
  const auto targeting = Targeting::Parse("contry = \"DE\"", {});
  REQUIRE(absl::IsInvalidArgument(targeting.status()));
  CHECK(std::string(targeting.status().message()).find("did you mean 'country'") != std::string::npos);
}

}  // namespace
}  // namespace waymark
