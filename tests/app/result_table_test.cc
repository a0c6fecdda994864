#include "app/result_table.h"

#include "tests/support/catch.h"

namespace waymark {
namespace {

v1::Schema::Field* AddField(v1::Schema* schema, const std::string& name, v1::Schema::Type type) {
  auto* field = schema->add_fields();
  field->set_name(name);
  field->set_type(type);
  return field;
}

TEST_CASE("a line shows the title, categories first, then short typed fields") {
  v1::Schema schema;
  AddField(&schema, "text", v1::Schema::TEXT);
  AddField(&schema, "sku", v1::Schema::KEYWORD);
  AddField(&schema, "year", v1::Schema::INTEGER);
  AddField(&schema, "name", v1::Schema::TEXT)->set_title(true);
  AddField(&schema, "genres", v1::Schema::KEYWORD)->set_category(true);
  const ShownFields shown = ChooseFields(schema);
  CHECK(shown.title == "name");
  CHECK(shown.others == std::vector<std::string>{"genres", "year", "sku"});
}

TEST_CASE("results are numbered, with where they were found and why they stand there") {
  google::protobuf::RepeatedPtrField<v1::Result> results;
  v1::Result* result = results.Add();
  result->set_score(1.25);
  result->mutable_item()->set_id("m1");
  (*result->mutable_item()->mutable_fields()->mutable_fields())["name"].set_string_value("Toy Story");
  auto* genres = (*result->mutable_item()->mutable_fields()->mutable_fields())["genres"].mutable_list_value();
  genres->add_values()->set_string_value("Animation");
  genres->add_values()->set_string_value("Comedy");
  auto* source = result->add_sources();
  source->set_name("keyword");
  source->set_rank(3);
  auto* small = result->add_explanation();
  small->set_feature("age");
  small->set_contribution(0.1);
  small->set_value(2);
  auto* large = result->add_explanation();
  large->set_feature("bm25");
  large->set_contribution(-0.5);
  large->set_value(7.5);
  CHECK(ResultTable(results, {"name", {"genres"}}, 100) ==
        "rank  score  id  name       genres             sources\n"
        "   1  1.250  m1  Toy Story  Animation, Comedy  keyword#3\n"
        "          -0.5000  bm25 = 7.5\n"
        "          +0.1000  age = 2\n");
}

TEST_CASE("what lies inside objects, and how far away an item is, are columns as others") {
  google::protobuf::RepeatedPtrField<v1::Result> results;
  const auto add = [&](const std::string& id, double width) {
    v1::Result* result = results.Add();
    result->mutable_item()->set_id(id);
    auto& size = (*result->mutable_item()->mutable_fields()->mutable_fields())["size"];
    (*size.mutable_struct_value()->mutable_fields())["width"].set_number_value(width);
    return result;
  };
  add("b1", 30)->set_distance_meters(970.4);
  add("b2", 40)->set_distance_meters(10971.4);
  add("b3", 50);
  CHECK(ResultTable(results, {"", {"size.width"}}, 100) ==
        "rank  score  id  size.width  distance  sources\n"
        "   1  0.000  b1  30             970 m\n"
        "   2  0.000  b2  40           11.0 km\n"
        "   3  0.000  b3  50\n");
}

TEST_CASE("the last line says which versions answered and what each stage took") {
  v1::ServedBy served;
  served.set_release("r1");
  served.set_retriever("v3");
  google::protobuf::RepeatedPtrField<v1::StageTiming> timings;
  for (const auto& [stage, ms] :
       std::vector<std::pair<std::string, double>>{{"rank", 2.25}, {"total", 4.06}}) {
    auto* timing = timings.Add();
    timing->set_stage(stage);
    timing->set_milliseconds(ms);
  }
  CHECK(ServedByLine(served, timings) == "release r1, retriever v3; 4.1 ms: rank 2.25");
}

}  // namespace
}  // namespace waymark
