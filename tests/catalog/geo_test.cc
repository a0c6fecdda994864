#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "absl/strings/str_cat.h"
#include "catalog/filter_evaluator.h"
#include "catalog/geo_column.h"
#include "catalog/item_order.h"
#include "catalog/sort_order.h"
#include "tests/catalog/items.h"
#include "tests/support/catch.h"

namespace waymark {
namespace {

using tests::SchemaRecordOf;

// Vincenty's formula for a sphere: another way to the same distance, stable everywhere.
double Independent(const GeoPoint& a, const GeoPoint& b) {
  const double r = std::numbers::pi / 180, d = (b.lon - a.lon) * r;
  const double x = std::cos(b.lat * r) * std::sin(d);
  const double y =
      std::cos(a.lat * r) * std::sin(b.lat * r) - std::sin(a.lat * r) * std::cos(b.lat * r) * std::cos(d);
  const double z =
      std::sin(a.lat * r) * std::sin(b.lat * r) + std::cos(a.lat * r) * std::cos(b.lat * r) * std::cos(d);
  return 6371008.8 * std::atan2(std::hypot(x, y), z);
}

class Places {
 public:
  explicit Places(uint32_t seed) : random_(seed) {}
  double Within(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }
  // Everywhere, and crowded at the poles, the antimeridian and one town.
  GeoPoint Point() {
    switch (Below(6)) {
      case 0:
        return {Below(2) == 0 ? 90.0 : -90.0, Within(-180, 180)};
      case 1:
        return {Within(85, 90) * (Below(2) == 0 ? 1 : -1), Within(-180, 180)};
      case 2:
        return {Within(-60, 60), Below(2) == 0 ? Within(179, 180) : Within(-180, -179)};
      case 3:
        return {52.52 + Within(-0.2, 0.2), 13.405 + Within(-0.3, 0.3)};
      case 4:
        return {Within(-90, 90), Below(2) == 0 ? 180.0 : -180.0};
      default:
        return {Within(-90, 90), Within(-180, 180)};
    }
  }

 private:
  std::mt19937 random_;
};

TEST_CASE("distances are those of the great circle") {
  // Berlin to Paris and to Sydney, worked out by the spherical law of cosines.
  const GeoPoint berlin{52.52, 13.405};
  CHECK(std::abs(DistanceMetres(berlin, {48.8566, 2.3522}) - 877464) < 100);
  CHECK(std::abs(DistanceMetres(berlin, {-33.8688, 151.2093}) - 16093400) < 3000);
  CHECK(DistanceMetres(berlin, berlin) == 0);
  // A quarter of a meridian, across the antimeridian, and between antipodes.
  CHECK(std::abs(DistanceMetres({0, 0}, {90, 77}) - std::numbers::pi / 2 * 6371008.8) < 0.01);
  CHECK(std::abs(DistanceMetres({0, 179.5}, {0, -179.5}) - std::numbers::pi / 180 * 6371008.8) < 0.01);
  CHECK(std::abs(DistanceMetres({0, -90}, {0, 90}) - std::numbers::pi * 6371008.8) < 1);
  Places places(1);
  for (int i = 0; i < 2000; ++i) {
    const GeoPoint a = places.Point(), b = places.Point();
    REQUIRE(std::abs(DistanceMetres(a, b) - Independent(a, b)) < 1.0);
  }
}

TEST_CASE("circles and boxes hold what a look at every point finds, also at the poles and the antimeridian") {
  Places places(7);
  GeoColumn column;
  std::vector<std::vector<GeoPoint>> points(4000);
  const auto put = [&](size_t item) {
    points[item].clear();
    for (int n = places.Below(8) == 0 ? places.Below(4) : 1; n > 0; --n)
      points[item].push_back(places.Point());
    column.Set(static_cast<ItemOrdinal>(item), points[item]);
  };
  for (size_t i = 0; i < points.size(); ++i) put(i);
  for (int i = 0; i < 1500; ++i) put(static_cast<size_t>(places.Below(4000)));
  REQUIRE(column.IndexAgrees());
  const auto check = [&](const GeoShape& shape, const std::function<bool(const GeoPoint&)>& inside) {
    const Bitmap found = column.Within(shape);
    size_t expected = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      const bool any = std::any_of(points[i].begin(), points[i].end(), inside);
      expected += any;
      REQUIRE(found.contains(static_cast<uint32_t>(i)) == any);
    }
    REQUIRE(found.cardinality() == expected);
    if (shape.bounded()) REQUIRE(column.CountNear(shape, 1'000'000) >= expected);
  };
  for (int i = 0; i < 400; ++i) {
    const GeoPoint center = places.Point();
    const double least = places.Below(4) == 0 ? places.Within(0, 1e6) : 0;
    const double greatest = least + std::pow(10, places.Within(1, 7.4));
    INFO(center.lat << " " << center.lon << " " << least << " " << greatest);
    // The edge itself may fall to either side of another formula.
    check(GeoShape::Distance(center, least, greatest), [&](const GeoPoint& point) {
      const double metres = DistanceMetres(center, point);
      return metres >= least && metres <= greatest;
    });
  }
  for (int i = 0; i < 400; ++i) {
    double south = places.Within(-90, 90), north = places.Within(-90, 90);
    if (south > north) std::swap(south, north);
    if (places.Below(5) == 0) north = 90;
    if (places.Below(5) == 0) south = -90;
    double west = places.Within(-180, 180), east = places.Within(-180, 180);
    if (places.Below(3) == 0) east = std::min(180.0, west + places.Within(0, 0.5));
    if (places.Below(6) == 0) west = 180;  // a box that begins at the antimeridian
    if (places.Below(6) == 0) east = 180;
    INFO(south << " " << west << " " << north << " " << east);
    check(GeoShape::Box(south, west, north, east), [&](const GeoPoint& point) {
      if (point.lat < south || point.lat > north) return false;
      if (west <= east) return point.lon >= west && point.lon <= east;
      return point.lon >= west || point.lon <= east;
    });
  }
}

TEST_CASE("a column of points comes back from its bytes, and from no others") {
  Places places(3);
  GeoColumn column;
  for (ItemOrdinal i = 0; i < 100; ++i) {
    const GeoPoint two[] = {places.Point(), places.Point()};
    column.Set(i, absl::MakeConstSpan(two).first(1 + i % 2));
  }
  column.Set(5, {});
  std::string bytes;
  ByteWriter writer(&bytes);
  column.Write(&writer);
  GeoColumn read;
  ByteReader reader(bytes);
  REQUIRE(read.Read(&reader, 100));
  CHECK(reader.AtEnd());
  CHECK(read.present() == column.present());
  CHECK(read.IndexAgrees());
  const auto shape = GeoShape::Distance({52.5, 13.4}, 0, 3e6);
  CHECK(read.Within(shape) == column.Within(shape));
  for (const size_t cut : {size_t{0}, size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    GeoColumn none;
    ByteReader part(std::string_view(bytes).substr(0, cut));
    CHECK_FALSE((none.Read(&part, 100) && part.AtEnd()));
  }
  // A latitude that there is not.
  std::string wrong = bytes;
  const double lat = 91;
  std::memcpy(wrong.data() + 8, &lat, sizeof(lat));
  GeoColumn none;
  ByteReader part(wrong);
  CHECK_FALSE(none.Read(&part, 100));
}

constexpr const char* kShops = R"({"fields": [
    {"name": "at", "type": "GEO", "array": true, "filterable": true},
    {"name": "hidden", "type": "GEO"},
    {"name": "year", "type": "INTEGER", "filterable": true},
    {"name": "path", "type": "KEYWORD", "filterable": true}]})";

struct Shops {
  Shops() : columns(std::make_shared<const Schema>(*Schema::FromRecord(SchemaRecordOf(kShops)))) {}
  void Put(ItemOrdinal item, const std::string& json) {
    storage::ItemChange change;
    change.set_ordinal(item);
    change.set_all(true);
    *change.mutable_record()->mutable_fields() = tests::Fields(json);
    columns.Apply(change);
  }
  std::vector<uint32_t> Passing(const std::string& text) {
    auto filter = ParseFilter(text, *columns.schema());
    INFO(filter.status());
    REQUIRE(filter.ok());
    BoundFilter bound(filter->root, columns);
    const Bitmap passing = bound.Evaluate();
    std::vector<uint32_t> items(passing.begin(), passing.end());
    for (const uint32_t item : columns.rows().live) {
      REQUIRE(bound.Passes(item) == passing.contains(item));
    }
    return items;
  }
  std::string Error(const std::string& text) {
    return std::string(ParseFilter(text, *columns.schema()).status().message());
  }
  ItemColumns columns;
};

using Items = std::vector<uint32_t>;

TEST_CASE("filters take circles and boxes") {
  Shops shops;
  shops.Put(0, R"({"at": [{"lat": 52.52, "lon": 13.405}], "year": 1})");  // Berlin
  shops.Put(1, R"({"at": ["48.8566,2.3522"], "year": 2})");               // Paris
  shops.Put(2,
            R"({"at": [{"lat": -17.7134, "lon": 178.065}, {"lat": 52.4, "lon": 13.06}]})");  // Fiji, Potsdam
  shops.Put(3, R"({"year": 1})");
  CHECK(shops.Passing("geo_distance(at, 52.52, 13.405) < 1") == Items{0});
  CHECK(shops.Passing("geo_distance(at, 52.52, 13.405) < 30km") == Items{0, 2});
  CHECK(shops.Passing("geo_distance(at, 52.52, 13.405) <= 900000m AND year = 2") == Items{1});
  CHECK(shops.Passing("geo_distance(at, 52.52, 13.405) > 900km") == Items{2});  // Fiji's shop
  CHECK(shops.Passing("NOT geo_distance(at,52.52,13.405)<30km") == Items{1, 3});
  CHECK(shops.Passing("geo_box(at, 40, 0, 60, 14)") == Items{0, 1, 2});
  CHECK(shops.Passing("geo_box(at, -20, 170, -10, -170)") == Items{2});
  CHECK(shops.Passing("geo_box(at, -20, -170, -10, 170)").empty());
  CHECK(shops.Passing("at:*") == Items{0, 1, 2});
  CHECK(shops.Passing("year = 1 (geo_distance(at, 0, 0) < 1 OR geo_box(at, 52, 13, 53, 14))") == Items{0});
}

TEST_CASE("what is wrong with a circle or box is named, with its column") {
  Shops shops;
  CHECK(shops.Error("year = 1 AND geo_distance(at, 95, 13.4) < 10") ==
        "filter, column 31: latitudes go from -90 to 90; it is written geo_distance(location, 52.5, 13.4) < "
        "10000");
  CHECK(
      shops.Error("geo_distance(at, 52, 200) < 10") ==
      "filter, column 22: longitudes go from -180 to 180; it is written geo_distance(location, 52.5, 13.4) < "
      "10000");
  CHECK(shops.Error("geo_distance(at, 52, 13) < soon") ==
        "filter, column 28: 'soon' is no distance; it takes metres (10000) or kilometres (10km)");
  CHECK(shops.Error("geo_distance(at, 52, 13) = 5") ==
        "filter, column 26: a distance is compared by <, <=, > or >=: geo_distance(location, 52.5, 13.4) < "
        "10000");
  CHECK(shops.Error("geo_distance(at, 52) < 5") ==
        "filter, column 20: a comma and a number should be here; it is written geo_distance(location, 52.5, "
        "13.4) < "
        "10000");
  CHECK(shops.Error("geo_distance(year, 52, 13) < 5") ==
        "filter, column 14: field 'year' is INTEGER; this takes a GEO field");
  CHECK(shops.Error("geo_distance(att, 52, 13) < 5") ==
        "filter, column 14: field 'att' is not in the schema; did you mean 'at'?");
  CHECK(shops.Error("geo_distance(hidden, 52, 13) < 5") ==
        "filter, column 14: field 'hidden' is not filterable; declare it with filterable = true");
  CHECK(shops.Error("geo_box(at, 60, 0, 40, 14)") ==
        "filter, column 13: the box's south lies north of its north; it is written geo_box(location, south, "
        "west, "
        "north, east)");
  CHECK(
      shops.Error("at = 5") ==
      "filter, column 4: field 'at' is GEO; it takes at:*, geo_distance(at, 52.5, 13.4) < 10000 (metres) and "
      "geo_box(at, south, west, north, east)");
  CHECK(
      shops.Error("at:5") ==
      "filter, column 4: field 'at' is GEO; after ':' it takes * (at:*); circles are geo_distance(at, 52.5, "
      "13.4) < 10000");
}

TEST_CASE("paths are kept with what lies below them") {
  Shops shops;
  shops.Put(0, R"({"path": "Electronics > Audio > Headphones"})");
  shops.Put(1, R"({"path": "Electronics > Audio"})");
  shops.Put(2, R"({"path": "Electronics > Audiobooks"})");
  shops.Put(3, R"({"path": "a/b"})");
  CHECK(shops.Passing("path(path, \"Electronics > Audio\")") == Items{0, 1});
  CHECK(shops.Passing("path(path, Electronics)") == Items{0, 1, 2});
  CHECK(shops.Passing("path(path, 'a', '/')") == Items{3});
  CHECK(shops.Passing("path = \"a/b\"") == Items{3});  // a field of that name is still a field
  CHECK(shops.Error("path(year, \"a\")") ==
        "filter, column 6: field 'year' is INTEGER; path() takes a KEYWORD field");
}

TEST_CASE("order_by takes distances") {
  const Schema schema = *Schema::FromRecord(SchemaRecordOf(kShops));
  const auto order = ParseSortOrder("geo_distance(at, 52.5, -13.4) desc, year", schema);
  REQUIRE(order.ok());
  REQUIRE(order->keys.size() == 2);
  CHECK(order->keys[0].descending);
  CHECK(order->keys[0].from == GeoPoint{52.5, -13.4});
  const auto refusal = [&](const std::string& text) {
    return std::string(ParseSortOrder(text, schema).status().message());
  };
  CHECK(refusal("at") ==
        "order_by: field 'at' is GEO; it sorts by the distance from a point: geo_distance(at, 52.5, 13.4)");
  CHECK(refusal("geo_distance(at, 52.5)") ==
        "order_by: geo_distance(at, 52.5) takes a field, a latitude and a longitude: geo_distance(location, "
        "52.5, "
        "13.4)");
  CHECK(refusal("geo_distance(at, 99, 1)") ==
        "order_by: geo_distance(at, 99, 1): latitudes go from -90 to 90");
  CHECK(refusal("geo_distance(at, 9, 1") == "order_by: the parenthesis of geo_distance is not closed; add )");
  CHECK(refusal("geo_distance(year, 9, 1)") ==
        "order_by: 'year' is INTEGER; it takes fields that are GEO (here 'at', 'hidden')");
}

TEST_CASE("items come by the nearest of their points, or the farthest, and those without come last") {
  Places places(11);
  Shops shops;
  std::vector<std::vector<GeoPoint>> points(300);
  for (ItemOrdinal i = 0; i < points.size(); ++i) {
    google::protobuf::Struct fields;
    auto* list = (*fields.mutable_fields())["at"].mutable_list_value();
    for (int n = places.Below(4); n > 0; --n) {
      points[i].push_back(places.Point());
      auto& point = *list->add_values()->mutable_struct_value()->mutable_fields();
      point["lat"].set_number_value(points[i].back().lat);
      point["lon"].set_number_value(points[i].back().lon);
    }
    storage::ItemChange change;
    change.set_ordinal(i);
    change.set_all(true);
    *change.mutable_record()->mutable_fields() = fields;
    shops.columns.Apply(change);
  }
  for (const bool descending : {false, true}) {
    const GeoPoint from = places.Point();
    const std::string text =
        absl::StrCat("geo_distance(at,", from.lat, ",", from.lon, ")", descending ? " desc" : "");
    auto order = ParseSortOrder(text, *shops.columns.schema());
    REQUIRE(order.ok());
    order->keys[0].from = from;  // StrCat keeps six digits
    const ItemOrder bound(*order, shops.columns);
    std::vector<ItemOrder::Entry> sorted;
    for (ItemOrdinal i = 0; i < points.size(); ++i) sorted.push_back(bound.Make({i, 0}));
    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return bound.Before(a, b); });
    std::vector<std::pair<double, uint32_t>> expected;
    for (ItemOrdinal i = 0; i < points.size(); ++i) {
      double key = std::numeric_limits<double>::infinity();
      for (const GeoPoint& point : points[i]) {
        const double metres = DistanceMetres(from, point);
        key = std::min(key, descending ? -metres : metres);
      }
      expected.emplace_back(key, i);
    }
    std::sort(expected.begin(), expected.end());
    for (size_t i = 0; i < expected.size(); ++i) REQUIRE(sorted[i].item == expected[i].second);
  }
}

}  // namespace
}  // namespace waymark
