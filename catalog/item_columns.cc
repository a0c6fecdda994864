#include "catalog/item_columns.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catalog/field_path.h"
#include "catalog/field_value.h"
#include "catalog/object_paths.h"

namespace waymark {
namespace {

using google::protobuf::RepeatedPtrField;
using google::protobuf::Struct;
using google::protobuf::Value;
using storage::FieldRecord;

// Whether a column's values mean the same under both types.
bool SameValues(FieldType before, FieldType now) {
  const auto number = [](FieldType t) { return t == FieldRecord::INTEGER || t == FieldRecord::FLOATING; };
  return before == now || (number(before) && number(now));
}

// What of a field the content hashes hang on.
bool SameContent(const Schema& before, const Schema& now) {
  const auto parts = [](const Schema& schema) {
    std::vector<std::pair<std::string, bool>> uses;
    for (const Field& field : schema.fields()) {
      if (field.title() || field.category()) uses.emplace_back(field.name(), field.title());
    }
    return uses;
  };
  // New fields may join: no item has a value of theirs yet.
  const auto earlier = parts(before);
  for (const auto& use : parts(now)) {
    if (before.Find(use.first) == nullptr) continue;
    if (std::find(earlier.begin(), earlier.end(), use) == earlier.end()) return false;
  }
  const auto later = parts(now);
  return std::all_of(earlier.begin(), earlier.end(), [&](const auto& use) {
    return std::find(later.begin(), later.end(), use) != later.end();
  });
}

// Whether items have values of a new field already.
bool HoldsNewField(const Schema& before, const Schema& now) {
  const auto is_known = [&](std::string_view name) { return before.Find(name) != nullptr; };
  const auto is_looked_into = [&](std::string_view object) {
    return std::any_of(before.fields().begin(), before.fields().end(), [&](const Field& field) {
      return field.name().size() > object.size() && Touches(object, field.name());
    });
  };
  return std::any_of(now.fields().begin(), now.fields().end(), [&](const Field& field) {
    return !is_known(field.name()) && MayBeHeldAlready(field.name(), is_known, is_looked_into);
  });
}

using Terms = absl::InlinedVector<std::string, 4>;
using Numbers = absl::InlinedVector<double, 4>;
using Points = absl::InlinedVector<GeoPoint, 2>;

// What a column of the field holds of the item; `fields` null: nothing.
template <class Visit>
void ForEachScalarOf(const Struct* fields, const std::string& name, const Visit& visit) {
  if (fields == nullptr) return;
  ForEachAt(*fields, name, [&](const Value& value) { ForEachScalar(value, visit); });
}

Terms TermsOf(const Struct* fields, const std::string& name) {
  Terms terms;
  ForEachScalarOf(fields, name, [&](const Value& v) {
    if (std::optional<std::string> text = ScalarText(v)) terms.push_back(*std::move(text));
  });
  return terms;
}

Numbers NumbersOf(const Struct* fields, const Field& field) {
  Numbers numbers;
  ForEachScalarOf(fields, field.name(), [&](const Value& v) {
    const std::optional<double> number = ScalarNumber(v, field.type());
    if (number && std::find(numbers.begin(), numbers.end(), *number) == numbers.end()) {
      numbers.push_back(*number);
    }
  });
  return numbers;
}

Points PointsOf(const Struct* fields, const std::string& name) {
  Points points;
  ForEachScalarOf(fields, name, [&](const Value& v) {
    const std::optional<GeoPoint> point = PointOf(v);
    if (point && std::find(points.begin(), points.end(), *point) == points.end()) points.push_back(*point);
  });
  return points;
}

bool SameHashes(absl::Span<const uint64_t> a, absl::Span<const uint64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

ItemColumns::ItemColumns(std::shared_ptr<const Schema> schema)
    : schema_(std::move(schema)),
      rows_(std::make_shared<ItemRows>()),
      content_(std::make_shared<ItemContent>()) {
  for (const Field& field : schema_->fields()) {
    Column column{.field = field, .year_name = absl::StrContains(FoldCase(field.name()), "year")};
    if (IsNumeric(field.type())) {
      column.numbers = std::make_shared<NumberColumn>();
    } else if (field.type() == FieldRecord::KEYWORD) {
      column.keywords = std::make_shared<KeywordColumn>();
    } else if (field.type() == FieldRecord::GEO) {
      column.points = std::make_shared<GeoColumn>();
    } else {
      continue;
    }
    by_name_.emplace(field.name(), columns_.size());
    if (absl::StrContains(field.name(), '.')) paths_.push_back(columns_.size());
    columns_.push_back(std::move(column));
  }
}

ItemColumns ItemColumns::Adopting(const ItemColumns& before, std::shared_ptr<const Schema> schema, bool all) {
  ItemColumns next(std::move(schema));
  next.rows_ = before.rows_;
  next.needs_filling_ = all || HoldsNewField(*before.schema_, *next.schema_);
  if (next.needs_filling_) return next;
  for (Column& column : next.columns_) {
    const Column* held = before.Find(column.field.name());
    if (held != nullptr && SameValues(held->field.type(), column.field.type())) {
      column.numbers = held->numbers;
      column.keywords = held->keywords;
      column.points = held->points;
      column.own = false;
    } else if (before.schema_->Find(column.field.name()) != nullptr) {
      next.needs_filling_ = true;  // a field that was there, with another type
    }
  }
  if (SameContent(*before.schema_, *next.schema_)) {
    next.content_ = before.content_;
    next.own_content_ = false;
  } else {
    next.needs_filling_ = true;
  }
  return next;
}

void ItemColumns::Fill(ItemOrdinal item, const storage::ItemRecord& record) {
  for (const Column& column : columns_) {
    if (column.own) SetColumn(column, item, record.deleted() ? nullptr : &record.fields());
  }
  if (!own_content_) return;
  if (record.deleted()) {
    content_->Clear(item);
  } else {
    content_->Set(item, *schema_, record.fields());
  }
}

void ItemColumns::Put(ItemOrdinal item, const storage::ItemRecord& record,
                      const RepeatedPtrField<std::string>* changed) {
  if (rows_->live.addChecked(item)) {
    ++rows_->live_changes;
    changed = nullptr;  // a new item, or one that was deleted: its columns are empty
  }
  if (item >= rows_->create_times_us.size()) rows_->create_times_us.resize(size_t{item} + 1, 0);
  rows_->create_times_us[item] = record.create_time_us();
  if (changed == nullptr) {
    for (const Column& column : columns_) SetColumn(column, item, &record.fields());
  } else {
    for (const std::string& name : *changed) {
      if (const Column* column = Find(name)) SetColumn(*column, item, &record.fields());
      for (const size_t at : paths_) {
        if (Touches(name, columns_[at].field.name())) SetColumn(columns_[at], item, &record.fields());
      }
    }
  }
  if (changed == nullptr || FeedsContent(*changed)) content_->Set(item, *schema_, record.fields());
}

void ItemColumns::Delete(ItemOrdinal item) {
  if (!rows_->live.removeChecked(item)) return;
  ++rows_->live_changes;
  for (const Column& column : columns_) SetColumn(column, item, nullptr);
  content_->Clear(item);
}

void ItemColumns::Apply(const storage::ItemChange& change) {
  if (change.record().deleted()) {
    Delete(change.ordinal());
  } else {
    Put(change.ordinal(), change.record(), change.all() ? nullptr : &change.changed_fields());
  }
}

const NumberColumn* ItemColumns::FindNumbers(std::string_view field) const {
  const Column* column = Find(field);
  return column == nullptr ? nullptr : column->numbers.get();
}

const KeywordColumn* ItemColumns::FindKeywords(std::string_view field) const {
  const Column* column = Find(field);
  return column == nullptr ? nullptr : column->keywords.get();
}

const GeoColumn* ItemColumns::FindPoints(std::string_view field) const {
  const Column* column = Find(field);
  return column == nullptr ? nullptr : column->points.get();
}

std::vector<std::string> ItemColumns::DifferingFields(ItemOrdinal item,
                                                      const storage::ItemRecord& record) const {
  std::vector<std::string> differing;
  for (const Column& column : columns_) {
    const Struct* fields = &record.fields();
    bool same = true;
    if (column.keywords) {
      Terms expected, held;
      for (std::string& term : TermsOf(fields, column.field.name())) {
        if (std::find(expected.begin(), expected.end(), term) == expected.end()) expected.push_back(term);
      }
      for (const TermNumber term : column.keywords->Terms(item)) held.push_back(column.keywords->Text(term));
      same = expected == held;
    } else if (column.points) {
      Points held;
      column.points->ForEachPoint(item, [&](const GeoPoint& point) { held.push_back(point); });
      same = PointsOf(fields, column.field.name()) == held;
    } else {
      Numbers held;
      column.numbers->ForEachValue(item, [&](double number) { held.push_back(number); });
      same = NumbersOf(fields, column.field) == held;
    }
    if (!same) differing.push_back(absl::StrCat("'", column.field.name(), "'"));
  }
  ItemContent content;
  content.Set(0, *schema_, record.fields());
  if (!SameHashes(content.TitleWords(0), content_->TitleWords(item)) ||
      !SameHashes(content.Categories(0), content_->Categories(item))) {
    differing.emplace_back("(content)");
  }
  if (item >= rows_->create_times_us.size() || rows_->create_times_us[item] != record.create_time_us()) {
    differing.emplace_back("(create time)");
  }
  return differing;
}

std::vector<std::string> ItemColumns::BrokenIndexes() const {
  std::vector<std::string> broken;
  for (const Column& column : columns_) {
    const bool agrees = column.keywords ? column.keywords->IndexAgrees()
                        : column.points ? column.points->IndexAgrees()
                                        : column.numbers->IndexAgrees();
    if (!agrees) {
      broken.push_back(
          absl::StrCat("the index of field '", column.field.name(), "' is not that of its column"));
    }
  }
  return broken;
}

std::vector<std::pair<std::string, size_t>> ItemColumns::MemoryBytes() const {
  std::vector<std::pair<std::string, size_t>> parts = {
      {"items", rows_->live.getSizeInBytes(false) + rows_->create_times_us.capacity() * sizeof(int64_t)}};
  for (const Column& column : columns_) {
    parts.emplace_back(column.field.name(), column.keywords ? column.keywords->memory_bytes()
                                            : column.points ? column.points->memory_bytes()
                                                            : column.numbers->memory_bytes());
  }
  return parts;
}

ItemColumns::Years ItemColumns::FindYears() const {
  Years any, time;
  for (const Column& column : columns_) {
    if (column.field.type() == FieldRecord::TIME && time.column == nullptr)
      time = {column.numbers.get(), true};
    if (column.field.type() != FieldRecord::INTEGER) continue;
    if (column.year_name && column.numbers->CountWithin(1000, 2999, 0) > 0) return {column.numbers.get()};
    if (any.column == nullptr && column.numbers->AllWithin(1000, 2999)) any = {column.numbers.get()};
  }
  return any.column != nullptr ? any : time;
}

void ItemColumns::SetColumn(const Column& column, ItemOrdinal item, const Struct* fields) {
  if (column.keywords) {
    column.keywords->Set(item, TermsOf(fields, column.field.name()));
  } else if (column.points) {
    column.points->Set(item, PointsOf(fields, column.field.name()));
  } else {
    column.numbers->Set(item, NumbersOf(fields, column.field));
  }
}

bool ItemColumns::FeedsContent(const RepeatedPtrField<std::string>& changed) const {
  return std::any_of(changed.begin(), changed.end(), [&](const std::string& name) {
    const Field* field = schema_->Find(name);
    if (field != nullptr && (field->title() || field->category())) return true;
    return std::any_of(paths_.begin(), paths_.end(), [&](size_t at) {
      return columns_[at].field.category() && Touches(name, columns_[at].field.name());
    });
  });
}

const ItemColumns::Column* ItemColumns::Find(std::string_view field) const {
  const auto found = by_name_.find(absl::string_view(field.data(), field.size()));
  return found == by_name_.end() ? nullptr : &columns_[found->second];
}

void ItemColumns::WritePart(size_t part, std::string* out) const {
  ByteWriter writer(out);
  if (part == 0) {
    std::vector<uint32_t> live(rows_->live.cardinality());
    if (!live.empty()) rows_->live.toUint32Array(live.data());
    writer.PutArray(live);
    writer.PutArray(rows_->create_times_us);
  } else if (part == 1) {
    content_->Write(&writer);
  } else if (const Column& column = columns_[part - 2]; column.keywords) {
    column.keywords->Write(&writer);
  } else if (column.points) {
    column.points->Write(&writer);
  } else {
    column.numbers->Write(&writer);
  }
}

bool ItemColumns::ReadPart(size_t part, std::string_view bytes, size_t end) {
  ByteReader reader(bytes);
  if (part == 0) {
    std::vector<uint32_t> live;
    if (!reader.GetArray(&live) || !reader.GetArray(&rows_->create_times_us)) return false;
    if (rows_->create_times_us.size() > end) return false;
    for (const uint32_t item : live) {
      if (item >= rows_->create_times_us.size()) return false;
    }
    rows_->live = Bitmap(live.size(), live.data());
  } else if (part == 1) {
    if (!content_->Read(&reader, end)) return false;
  } else if (part - 2 >= columns_.size()) {
    return false;
  } else if (Column& column = columns_[part - 2]; column.keywords) {
    if (!column.keywords->Read(&reader, end)) return false;
  } else if (column.points) {
    if (!column.points->Read(&reader, end)) return false;
  } else if (!column.numbers->Read(&reader, end)) {
    return false;
  }
  return reader.AtEnd();
}

}  // namespace waymark
