// Columns and filters of the catalogue, by processor time: what a write costs, and what a filter costs, over
// the Wikipedia films (../shared/data, when it is there) and over a million made items.
//
//   catalog_columns
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>

#include "catalog/filter_evaluator.h"
#include "catalog/item_columns.h"
#include "tests/catalog/movies.h"
#include "tests/support/skip.h"

namespace waymark {
namespace {

// Of this process's processor time, which a busy machine does not stretch.
double Microseconds(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) * 1e6 / CLOCKS_PER_SEC;
}

// A benchmark that measures the wrong thing is stopped.
void Need(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "catalog_columns: %s\n", what);
  std::exit(1);
}

void PrintFilter(const ItemColumns& columns, const std::string& text) {
  const auto filter = ParseFilter(text, *columns.schema());
  Need(filter.ok(), "a filter is not understood");
  uint64_t kept = 0;
  constexpr int kRounds = 200;
  const double time = Microseconds([&] {
    for (int i = 0; i < kRounds; ++i) kept = BoundFilter(filter->root, columns).Evaluate().cardinality();
  });
  std::printf("%10.1f us  %8llu items  %s\n", time / kRounds, static_cast<unsigned long long>(kept),
              text.c_str());
}

void MeasureFilms() {
  if (!tests::HaveData("wikipedia-movies")) {
    std::printf("%s\n", tests::Skipped().back().c_str());
    return;
  }
  std::vector<storage::ItemChange> films;
  Schema schema;
  double extending = 0, checking = 0;
  tests::ForEachWikipediaMovie([&](const google::protobuf::Struct& fields) {
    bool changed = false;
    extending += Microseconds([&] {
      Schema extended = schema.ExtendedBy(fields, &changed);
      if (changed) schema = std::move(extended);
    });
    checking += Microseconds(
        [&] { Need(schema.Check(fields).ok(), "a film does not fit the schema that was found from it"); });
    storage::ItemChange change;
    change.set_ordinal(static_cast<ItemOrdinal>(films.size()));
    change.set_all(true);
    *change.mutable_record()->mutable_fields() = fields;
    films.push_back(std::move(change));
  });
  const double count = static_cast<double>(films.size());
  ItemColumns columns(std::make_shared<const Schema>(schema));
  const double applying = Microseconds([&] {
    for (const storage::ItemChange& film : films) columns.Apply(film);
  });
  std::printf("%zu films: %.2f us each to extend the schema, %.2f to check, %.2f to apply (%.0f ms in all)\n",
              films.size(), extending / count, checking / count, applying / count, applying / 1000);
  size_t bytes = 0;
  for (size_t part = 0; part < columns.part_count(); ++part) {
    std::string out;
    columns.WritePart(part, &out);
    bytes += out.size();
  }
  std::printf("%zu bytes of columns\n", bytes);
  for (const char* text :
       {"genres = Drama", "genres = Drama AND year:1990..1999", "cast:\"tom hanks\" AND year > 2000",
        "thumbnail_width > 200 AND -genres:comedy", "NOT year < 1950 OR genres:noir"}) {
    PrintFilter(columns, text);
  }
}

void MeasureMadeItems() {
  storage::SchemaRecord fields_of_items;
  for (const auto& [name, type] : {std::pair("price", storage::FieldRecord::FLOATING),
                                   {"year", storage::FieldRecord::INTEGER},
                                   {"brand", storage::FieldRecord::KEYWORD}}) {
    storage::FieldRecord* field = fields_of_items.add_fields();
    field->set_name(name);
    field->set_type(type);
    field->set_filterable(true);
  }
  const auto schema = Schema::FromRecord(fields_of_items);
  Need(schema.ok(), "the schema is refused");
  ItemColumns columns(std::make_shared<const Schema>(*schema));
  std::mt19937 random(1);
  constexpr ItemOrdinal kItems = 1000000;
  storage::ItemRecord record;
  auto& fields = *record.mutable_fields()->mutable_fields();
  const double applying = Microseconds([&] {
    for (ItemOrdinal item = 0; item < kItems; ++item) {
      fields["price"].set_number_value(random() % 1000000 / 100.0);
      fields["year"].set_number_value(1900 + random() % 124);
      fields["brand"].set_string_value("brand " + std::to_string(random() % 5000));
      columns.Put(item, record, nullptr);
    }
  });
  std::printf("a million items: %.2f us each to apply\n", applying / kItems);
  for (const char* text :
       {"price < 1", "price < 100", "price < 5000", "year = 1995", "year:1950..1999", "brand = \"brand 7\"",
        "brand = \"brand 7\" AND price < 5000 AND year > 1950", "-brand:*"}) {
    PrintFilter(columns, text);
  }
  const ItemSet half = MakeItemSet(columns.FindNumbers("price")->Within(0, 5000));
  size_t size = 0;
  const double time = Microseconds([&] {
    for (int i = 0; i < 100; ++i) size += half.ToBitmap(kItems).size();
  });
  std::printf("%.1f us for ToBitmap of %llu items\n", time / 100,
              static_cast<unsigned long long>(half.Size()));
  Need(size == 12500000, "a bitmap has the wrong size");
}

}  // namespace
}  // namespace waymark

int main() {
  waymark::MeasureFilms();
  waymark::MeasureMadeItems();
}
