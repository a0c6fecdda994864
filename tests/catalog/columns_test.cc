#include <cmath>
#include <random>
#include <set>

#include "catalog/item_columns.h"
#include "catalog/item_content.h"
#include "tests/catalog/items.h"
#include "tests/catalog/random_rows.h"

namespace waymark {
namespace {

using tests::Fields;
using tests::Inferred;

std::vector<uint32_t> ItemsOf(const Bitmap& bits) {
  std::vector<uint32_t> items(bits.cardinality());
  if (!items.empty()) bits.toUint32Array(items.data());
  return items;
}

TEST_CASE("A number column answers ranges alike from bitmaps, sorted pairs and scans") {
  std::mt19937 random(3);
  for (const uint32_t distinct : {5u, 3000u, 1000000u}) {
    NumberColumn column;
    std::vector<double> held(20000, std::nan(""));
    for (int change = 0; change < 40000; ++change) {
      const uint32_t item = random() % held.size();
      if (random() % 8 == 0) {
        column.Set(item, {});
        held[item] = std::nan("");
      } else {
        held[item] = random() % distinct;
        column.Set(item, {held[item]});
      }
    }
    for (int query = 0; query < 200; ++query) {
      const double low = random() % distinct;
      const double high = low + (query % 2 == 0 ? random() % distinct : random() % (1 + distinct / 500));
      std::vector<uint32_t> expected;
      for (uint32_t item = 0; item < held.size(); ++item) {
        if (held[item] >= low && held[item] <= high) expected.push_back(item);
      }
      REQUIRE(ItemsOf(column.Within(low, high)) == expected);
    }
  }
}

TEST_CASE("A keyword column finds paths as a walk over its terms does, beside changes and after a file") {
  std::mt19937 random(5);
  const std::vector<std::string> levels = {"a", "a ", "a b", "ab", "b", "\xC3\xA4", "~", "a>b"},
                                 separators = {" > ", "/", ">", "a"};
  const auto path = [&] {
    std::string text = levels[random() % levels.size()];
    for (size_t depth = random() % 3; depth > 0; --depth) {
      text += separators[random() % 2] + levels[random() % levels.size()];
    }
    return text;
  };
  KeywordColumn column;
  std::vector<std::vector<std::string>> held(300);
  const auto check = [&](const KeywordColumn& checked) {
    CHECK(checked.IndexAgrees());
    for (int query = 0; query < 200; ++query) {
      const std::string wanted = path(), separator = separators[random() % separators.size()];
      std::set<std::string> expected;
      for (const auto& texts : held) {
        for (const std::string& text : texts) {
          if (text == wanted || text.rfind(wanted + separator, 0) == 0) expected.insert(text);
        }
      }
      std::vector<std::string> found;
      for (const TermNumber term : checked.FindPath(wanted, separator)) found.push_back(checked.Text(term));
      REQUIRE(found == std::vector<std::string>(expected.begin(), expected.end()));
    }
  };
  for (int round = 0; round < 20; ++round) {
    for (int change = 0; change < 100; ++change) {
      const size_t item = random() % held.size();
      held[item].clear();
      for (size_t n = random() % 3; n > 0; --n) held[item].push_back(path());
      column.Set(static_cast<ItemOrdinal>(item), held[item]);
    }
    check(column);
  }
  std::string bytes;
  ByteWriter writer(&bytes);
  column.Write(&writer);
  ByteReader reader(bytes);
  KeywordColumn read;
  REQUIRE(read.Read(&reader, held.size()));
  check(read);
}

TEST_CASE("A keyword column keeps order, counts a doubled term once and forgets terms that nobody has") {
  KeywordColumn column;
  column.Set(4, {"b", "a", "b"});
  column.Set(5, {"a"});
  const TermNumber a = *column.Find("a"), b = *column.Find("b");
  CHECK(std::vector<TermNumber>(column.Terms(4).begin(), column.Terms(4).end()) ==
        std::vector<TermNumber>{b, a});
  CHECK(column.CountOf(a) == 2);
  CHECK(column.Terms(99).empty());

  column.Set(4, {"a"});
  CHECK_FALSE(column.Find("b").has_value());
  CHECK(column.Text(b).empty());
  CHECK(*column.Find("a") == a);

  column.Set(4, {"a", "b"});
  CHECK(*column.Find("b") != b);
  CHECK(column.FindFolded("A") == std::vector<TermNumber>{a});
  column.Set(5, {"STRASSE"});
  CHECK(column.FindFolded("stra\xC3\x9F"
                          "e") == std::vector<TermNumber>{*column.Find("STRASSE")});
}

TEST_CASE("Columns changed in place read as columns made anew") {
  tests::RandomRows random(11);
  const auto schema =
      std::make_shared<const Schema>(*Schema::FromRecord(tests::SchemaRecordOf(tests::RandomRows::kSchema)));
  constexpr int kItems = 500;
  ItemColumns changed(schema), fresh(schema);
  std::vector<tests::Row> rows(kItems);
  for (int i = 0; i < 5000; ++i) {
    const auto item = static_cast<ItemOrdinal>(random.Below(kItems));
    tests::Row next = random.MakeRow();
    storage::ItemChange change;
    change.set_ordinal(item);
    if (rows[item].live && next.live && random.Below(2) == 0) {
      // Only some fields change, and are named.
      tests::Row kept = rows[item];
      kept.genres = next.genres;
      kept.price = next.price;
      next = kept;
      change.add_changed_fields("genres");
      change.add_changed_fields("price");
    } else {
      change.set_all(true);
    }
    rows[item] = next;
    change.mutable_record()->set_deleted(!next.live);
    *change.mutable_record()->mutable_fields() = tests::RandomRows::FieldsOf(next);
    changed.Apply(change);
  }
  for (ItemOrdinal item = 0; item < kItems; ++item) {
    storage::ItemRecord record;
    *record.mutable_fields() = tests::RandomRows::FieldsOf(rows[item]);
    if (rows[item].live) fresh.Put(item, record, nullptr);
  }
  CHECK(changed.rows().live == fresh.rows().live);
  for (const Field& field : schema->fields()) {
    INFO(field.name());
    const NumberColumn *number = changed.FindNumbers(field.name()),
                       *fresh_number = fresh.FindNumbers(field.name());
    const KeywordColumn *words = changed.FindKeywords(field.name()),
                        *fresh_words = fresh.FindKeywords(field.name());
    for (ItemOrdinal item = 0; item < kItems; ++item) {
      if (number != nullptr) {
        const double a = number->First(item), b = fresh_number->First(item);
        REQUIRE((a == b || (std::isnan(a) && std::isnan(b))));
        continue;
      }
      std::vector<std::string> a, b;
      for (const TermNumber term : words->Terms(item)) a.push_back(words->Text(term));
      for (const TermNumber term : fresh_words->Terms(item)) b.push_back(fresh_words->Text(term));
      REQUIRE(a == b);
      const auto content = changed.content().Categories(item),
                 fresh_content = fresh.content().Categories(item);
      REQUIRE(std::equal(content.begin(), content.end(), fresh_content.begin(), fresh_content.end()));
    }
  }
}

TEST_CASE("Title words are hashed without case, punctuation and repetition") {
  const auto words = [](const char* title) { return TitleWordHashes("title", title); };
  CHECK(words("Toy Story 2!").size() == 3);
  CHECK(words("The toy, the TOY") == words("toy the"));
  CHECK(words("Don't") == words("don't"));
  CHECK(words("\xC3\x89lite") == words("\xC3\xA9lite"));
  CHECK(words("...").empty());
  // What packages and other machines rely on: the plain XXH3_64bits of "genres\0Drama".
  CHECK(ContentHash("genres", "Drama") == 0xd8c69ae9f13c39feULL);
  CHECK(ContentHash("genres", "Drama") != ContentHash("tags", "Drama"));
}

TEST_CASE(
    "The year comes from the field named so, else from one whose values are all years, else from a time") {
  const auto columns_of = [](std::initializer_list<std::string> items) {
    ItemColumns columns(std::make_shared<const Schema>(tests::Inferred(items)));
    ItemOrdinal ordinal = 0;
    for (const std::string& item : items) columns.Put(ordinal++, tests::Record("x", item), nullptr);
    return columns;
  };
  const auto named =
      columns_of({R"({"age": 1200, "release_year": 1995})", R"({"release_year": 0, "age": 1500})"});
  CHECK(named.FindYears().column == named.FindNumbers("release_year"));
  const auto valued = columns_of({R"({"made": 1995, "rank": 3})", R"({"made": 2001, "rank": 1500})"});
  CHECK(valued.FindYears().column == valued.FindNumbers("made"));
  const auto timed = columns_of({R"({"rank": 3, "released": "1995-11-22"})"});
  CHECK(timed.FindYears().column == timed.FindNumbers("released"));
  CHECK(timed.FindYears().times);
  CHECK(columns_of({R"({"rank": 3})"}).FindYears().column == nullptr);
}

TEST_CASE(
    "Parts of columns that are written beside changes come to the newest values when these are replayed") {
  const auto schema = std::make_shared<const Schema>(Inferred({R"({"title": "a b", "n": 1, "kind": "x"})"}));
  const auto change = [](ItemOrdinal item, const std::string& json) {
    storage::ItemChange change;
    change.set_ordinal(item);
    change.set_all(true);
    *change.mutable_record()->mutable_fields() = Fields(json);
    return change;
  };
  // Item 3 is new, item 1 changes, item 2 goes, all of it after the first part was written.
  storage::ItemChange gone = change(2, "{}");
  gone.mutable_record()->set_deleted(true);
  const std::vector<storage::ItemChange> tail = {change(3, R"({"title": "new one", "n": 30, "kind": "z"})"),
                                                 change(1, R"({"title": "changed", "n": 11, "kind": "y"})"),
                                                 gone};
  ItemColumns written(schema);
  for (ItemOrdinal item = 0; item < 3; ++item) {
    written.Apply(change(item, R"({"title": "some thing", "n": 7, "kind": "x"})"));
  }
  std::vector<std::string> parts(written.part_count());
  written.WritePart(0, &parts[0]);
  for (const auto& late : tail) written.Apply(late);
  for (size_t part = 1; part < parts.size(); ++part) written.WritePart(part, &parts[part]);

  ItemColumns read(schema);
  for (size_t part = 0; part < parts.size(); ++part) REQUIRE(read.ReadPart(part, parts[part], 4));
  for (const auto& late : tail) read.Apply(late);
  CHECK(ItemsOf(read.rows().live) == std::vector<uint32_t>{0, 1, 3});
  CHECK(read.BrokenIndexes().empty());
  const storage::ItemChange kept = change(0, R"({"title": "some thing", "n": 7, "kind": "x"})");
  for (const storage::ItemChange& newest : {kept, tail[0], tail[1]}) {
    CHECK(read.DifferingFields(newest.ordinal(), newest.record()).empty());
  }
  CHECK(std::isnan(read.FindNumbers("n")->First(2)));
  // An ordinal that was never given out is damage.
  ItemColumns small(schema);
  CHECK_FALSE(small.ReadPart(1, parts[1], 3));
}

}  // namespace
}  // namespace waymark
