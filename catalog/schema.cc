#include "catalog/schema.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catalog/field_value.h"
#include "catalog/object_paths.h"
#include "catalog/schema_inference.h"
#include "catalog/text_analysis.h"

namespace waymark {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;
using storage::FieldRecord;

constexpr int kMostDeclaredFields = 1000;
constexpr size_t kLongestFieldName = 256;

absl::Status Refused(const std::string& name, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("schema, field '", ShortenedText(name), "': ", what));
}

// Dimension and metric go with VECTOR fields, and with no others.
absl::Status CheckVectorField(const Field& field) {
  const std::string& name = field.name();
  if (field.type() != FieldRecord::VECTOR) {
    if (field.dimension() == 0 && field.metric() == FieldRecord::METRIC_UNSPECIFIED) return absl::OkStatus();
    return Refused(name, absl::StrCat("is ", std::string(TypeName(field.type())),
                                      ", and has a dimension or metric, which VECTOR fields take"));
  }
  // One place is kept for the length of Euclidean vectors.
  const int most = kMostDimensions - (field.metric() == FieldRecord::EUCLIDEAN ? 1 : 0);
  if (field.dimension() < 1 || field.dimension() > most) {
    return Refused(name,
                   absl::StrCat("dimension is ", field.dimension(), "; VECTOR fields take 1 to ", most));
  }
  if (!FieldRecord::Metric_IsValid(field.metric())) {
    return Refused(name, absl::StrCat("metric is ", static_cast<int>(field.metric()),
                                      "; it takes COSINE, DOT_PRODUCT or EUCLIDEAN"));
  }
  if (field.array() || field.searchable() || field.filterable()) {
    return Refused(name,
                   "VECTOR fields hold one vector an item, for requests with a vector: array, searchable and "
                   "filterable do not go with them");
  }
  return absl::OkStatus();
}

absl::Status CheckField(const Field& field) {
  const std::string& name = field.name();
  if (name.empty()) return absl::InvalidArgumentError("schema: a field has an empty name");
  if (name.size() > kLongestFieldName) return Refused(name, "a name has at most 256 bytes");
  if (!IsValidUtf8(name)) return Refused("?", "its name is no valid UTF-8");
  if (name == "id") return Refused(name, "the item's id is no field of the schema; leave it out");
  if (field.type() == FieldRecord::TYPE_UNSPECIFIED || !FieldRecord::Type_IsValid(field.type())) {
    return Refused(
        name,
        "has no type; give one of TEXT, KEYWORD, INTEGER, FLOATING, BOOLEAN, TIME, OBJECT, GEO, VECTOR");
  }
  const bool text = field.type() == FieldRecord::TEXT, keyword = field.type() == FieldRecord::KEYWORD;
  if (!std::isfinite(field.search_weight()) || field.search_weight() < 0) {
    return Refused(name, absl::StrCat("search_weight is ", field.search_weight(),
                                      "; it takes a number from 0 (which means 1) up"));
  }
  if (field.title() && !text && !keyword) {
    return Refused(name, absl::StrCat("is the title, but ", std::string(TypeName(field.type())),
                                      "; a title is a TEXT or KEYWORD field"));
  }
  if (field.category() && !keyword && field.type() != FieldRecord::INTEGER &&
      field.type() != FieldRecord::BOOLEAN) {
    return Refused(name, "is a category; categories are KEYWORD, INTEGER or BOOLEAN fields");
  }
  if (text && field.filterable()) {
    return Refused(name, "TEXT fields do not filter; make it KEYWORD, or add a KEYWORD field beside it");
  }
  if (field.type() == FieldRecord::OBJECT && (field.filterable() || field.searchable())) {
    return Refused(name,
                   "OBJECT fields are kept and returned only; lift what is filtered or searched out of it");
  }
  if (field.type() == FieldRecord::GEO && field.searchable()) {
    return Refused(name,
                   "GEO fields are not searched by words; filters and order_by take them (docs/filters.md)");
  }
  return CheckVectorField(field);
}

absl::Status CheckFieldAnalysis(const storage::SchemaRecord& schema, const Field& field) {
  const bool said = !field.analyzer().empty() || !field.language().empty() || !field.stemmer().empty() ||
                    field.has_remove_stop_words();
  if (!said) return absl::OkStatus();
  if (field.type() != FieldRecord::TEXT && field.type() != FieldRecord::KEYWORD) {
    return Refused(field.name(), absl::StrCat("has analyzer, language, stemmer or remove_stop_words, but is ",
                                              std::string(TypeName(field.type())),
                                              "; they are for TEXT and KEYWORD fields"));
  }
  return TextAnalysisOf(schema, field).status();
}

// Fields that an item gives a schema.
struct FoundFields {
  std::vector<Field> fields;
  std::vector<std::pair<size_t, Field>> wider;  // (place in the schema, as it is now)

  // Whether what lies inside the value is to be found, too.
  bool Find(const std::string& path, const Value& value, int* free_paths) {
    const bool nested = absl::StrContains(path, '.');
    if (nested && *free_paths <= 0) return false;
    std::optional<Field> field = InferField(path, value);
    if (!field || !CheckField(*field).ok()) return false;
    *free_paths -= nested ? 1 : 0;
    const bool object = field->type() == FieldRecord::OBJECT;
    fields.push_back(*std::move(field));
    return object;
  }
  void AddParts(const Field& point, int* free_paths) {
    for (const char* part : {".lat", ".lon"}) {
      Field field;
      field.set_name(absl::StrCat(point.name(), part));
      field.set_type(FieldRecord::FLOATING);
      field.set_array(point.array());
      field.set_filterable(true);
      if (!CheckField(field).ok() || (*free_paths)-- <= 0) continue;
      fields.push_back(std::move(field));
    }
  }
  // Fields of items before those inside objects, by name, so that the same item gives the same schema: a
  // map's own order changes from run to run. Each once: the parts of a point may be in the item, too.
  void Sort() {
    const auto key = [](const Field& f) { return std::pair(absl::StrContains(f.name(), '.'), f.name()); };
    std::stable_sort(fields.begin(), fields.end(),
                     [&](const Field& a, const Field& b) { return key(a) < key(b); });
    fields.erase(std::unique(fields.begin(), fields.end(),
                             [](const Field& a, const Field& b) { return a.name() == b.name(); }),
                 fields.end());
  }
};

}  // namespace

Schema::Schema(storage::SchemaRecord record) : record_(std::move(record)) {
  fields_.assign(record_.fields().begin(), record_.fields().end());
  for (size_t i = 0; i < fields_.size(); ++i) {
    by_name_.emplace(fields_[i].name(), i);
    if (absl::StrContains(fields_[i].name(), '.')) paths_.push_back(i);
  }
}

absl::StatusOr<Schema> Schema::FromRecord(storage::SchemaRecord record) {
  if (record.fields_size() > kMostDeclaredFields) {
    return absl::InvalidArgumentError(absl::StrCat("schema: ", record.fields_size(), " fields; at most ",
                                                   kMostDeclaredFields, " are taken"));
  }
  absl::flat_hash_map<std::string, int> seen;
  const Field* title = nullptr;
  for (const Field& field : record.fields()) {
    if (absl::Status status = CheckField(field); !status.ok()) return status;
    if (++seen[field.name()] > 1) return Refused(field.name(), "is there twice; names are unique");
    if (field.title() && title != nullptr) {
      return Refused(field.name(), absl::StrCat("is a second title beside '", title->name(), "'; keep one"));
    }
    if (field.title()) title = &field;
  }
  if (record.language().empty()) {
    record.set_language("english");
    record.set_remove_stop_words(true);
  }
  const absl::StatusOr<TextAnalysis> analysis = TextAnalysisOf(record);
  if (!analysis.ok()) return analysis.status();
  record.set_stemmer(analysis->stemmer);
  for (const Field& field : record.fields()) {
    if (auto status = CheckFieldAnalysis(record, field); !status.ok()) return status;
  }
  return Schema(std::move(record));
}

const Field* Schema::Find(std::string_view name) const {
  const auto found = by_name_.find(absl::string_view(name.data(), name.size()));
  return found == by_name_.end() ? nullptr : &fields_[found->second];
}

const Field* Schema::TitleField() const {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [](const Field& f) { return f.title(); });
  return found == fields_.end() ? nullptr : &*found;
}

Schema Schema::ExtendedBy(const Struct& fields, bool* changed) const {
  *changed = false;
  if (record_.declared()) return *this;
  // Most items fit as they are: the record is copied only for one that does not.
  FoundFields found;
  const bool full = record_.fields_size() >= kMostInferredFields;
  int free_paths = kMostInferredPaths - static_cast<int>(paths_.size());
  ForEachPath(fields, [&](const std::string& path, const Value& value) {
    const auto known = by_name_.find(path);
    if (known == by_name_.end()) return !full && found.Find(path, value, &free_paths);
    const Field& field = fields_[known->second];
    std::optional<Field> wider = WidenField(field, value);
    if (!wider) return field.type() == FieldRecord::OBJECT;
    const bool object = wider->type() == FieldRecord::OBJECT;
    // Points that items have already are objects now, and looked into like others.
    if (object && field.type() == FieldRecord::GEO) found.AddParts(field, &free_paths);
    found.wider.emplace_back(known->second, *std::move(wider));
    return object;
  });
  if (found.fields.empty() && found.wider.empty()) return *this;
  storage::SchemaRecord extended = record_;
  for (auto& [place, field] : found.wider) {
    *extended.mutable_fields(static_cast<int>(place)) = std::move(field);
  }
  *changed = !found.wider.empty();
  found.Sort();
  for (Field& field : found.fields) {
    if (extended.fields_size() >= kMostInferredFields) break;
    *extended.add_fields() = std::move(field);
    *changed = true;
  }
  if (!*changed) return *this;
  if (record_.fields().empty()) {
    extended.set_language("english");
    extended.set_stemmer("porter");
    extended.set_remove_stop_words(true);
  }
  // One title: "title", else "name", whichever the data had first.
  if (TitleField() == nullptr) {
    for (const char* candidate : {"title", "Title", "name", "Name"}) {
      const auto title = std::find_if(
          extended.mutable_fields()->begin(), extended.mutable_fields()->end(),
          [&](const Field& f) { return f.name() == candidate && f.type() == FieldRecord::TEXT; });
      if (title == extended.mutable_fields()->end()) continue;
      title->set_title(true);
      break;
    }
  }
  extended.set_revision(record_.revision() + 1);
  return Schema(std::move(extended));
}

}  // namespace waymark
