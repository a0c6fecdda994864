#include <google/protobuf/util/json_util.h>

#include <memory>
#include <string>

#include "catalog/filter.h"
#include "catalog/filter_evaluator.h"
#include "catalog/item_columns.h"
#include "tests/catalog/random_rows.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/targets.h"

namespace waymark::fuzz {
namespace {

constexpr ItemOrdinal kItems = 200;

std::unique_ptr<ItemColumns> RandomColumns() {
  storage::SchemaRecord schema;
  Require(google::protobuf::util::JsonStringToMessage(tests::RandomRows::kSchema, &schema).ok(),
          "a schema in JSON");
  storage::FieldRecord* place = schema.add_fields();
  place->set_name("at");
  place->set_type(storage::FieldRecord::GEO);
  place->set_filterable(true);
  auto columns = std::make_unique<ItemColumns>(std::make_shared<const Schema>(*Schema::FromRecord(schema)));
  tests::RandomRows random(5);
  for (ItemOrdinal item = 0; item < kItems; ++item) {
    const tests::Row row = random.MakeRow();
    storage::ItemChange change;
    change.set_ordinal(item);
    change.set_all(true);
    change.mutable_record()->set_deleted(!row.live);
    if (row.live) {
      google::protobuf::Struct fields = tests::RandomRows::FieldsOf(row);
      if (item % 3 != 0) {
        auto& point = *(*fields.mutable_fields())["at"].mutable_struct_value()->mutable_fields();
        point["lat"].set_number_value(item * 0.9 - 90);
        point["lon"].set_number_value(item % 2 == 0 ? 180 - item * 0.01 : item * 1.7 - 170);
      }
      *change.mutable_record()->mutable_fields() = fields;
    }
    columns->Apply(change);
  }
  return columns;
}

}  // namespace

bool Filter(const uint8_t* data, size_t size) {
  static const std::unique_ptr<ItemColumns> columns = RandomColumns();
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto filter = ParseFilter(text, *columns->schema());
  if (!filter.ok()) {
    Require(absl::IsInvalidArgument(filter.status()), "a filter that is refused is the caller's");
    Require(filter.status().message().find("filter") != absl::string_view::npos, "the error says where");
    return false;
  }
  BoundFilter bound(filter->root, *columns);
  const Bitmap passing = bound.Evaluate();
  for (ItemOrdinal item = 0; item < kItems; ++item) {
    const bool live = columns->rows().live.contains(item);
    Require(passing.contains(item) == (live && bound.Passes(item)), "bitmaps pass what single items pass");
  }
  return true;
}

}  // namespace waymark::fuzz
