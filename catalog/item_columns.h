// All columns of one collection under one schema, with the items that live: what a filter is evaluated on and
// what features read. Changed in place; what a new schema leaves as it is is shared with the columns before.
//
//   ItemColumns columns(schema);
//   columns.Apply(change);                       // one item's change, microseconds
//   columns.FindNumbers("year")->First(7);
//
// Not thread-safe: the catalog's lock guards it. For catalog/ alone.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "catalog/geo_column.h"
#include "catalog/item_content.h"
#include "catalog/keyword_column.h"
#include "catalog/number_column.h"
#include "catalog/schema.h"
#include "waymark/storage/records.pb.h"

namespace waymark {

inline bool IsYear(double number) { return number >= 1000 && number <= 2999; }

// What does not hang on the schema.
struct ItemRows {
  Bitmap live;
  uint64_t live_changes = 0;             // grows with each change of `live`
  std::vector<int64_t> create_times_us;  // [ordinal]; 0: never written
};

class ItemColumns {
 public:
  explicit ItemColumns(std::shared_ptr<const Schema> schema);
  // Under another schema: shares live items and the columns whose values mean the same there. Columns (and
  // content) that are new or whose meaning has changed are empty; needs_filling() says whether items written
  // before may have values for them. `all`: nothing is shared.
  static ItemColumns Adopting(const ItemColumns& before, std::shared_ptr<const Schema> schema, bool all);
  bool needs_filling() const { return needs_filling_; }
  // Gives the columns that are not shared what `record` holds.
  void Fill(ItemOrdinal item, const storage::ItemRecord& record);

  // Takes in an item as it is; `changed`: only these fields differ from before; null: any may.
  void Put(ItemOrdinal item, const storage::ItemRecord& record,
           const google::protobuf::RepeatedPtrField<std::string>* changed);
  void Delete(ItemOrdinal item);
  void Apply(const storage::ItemChange& change);

  const std::shared_ptr<const Schema>& schema() const { return schema_; }
  const ItemRows& rows() const { return *rows_; }
  ItemRows* mutable_rows() { return rows_.get(); }
  const ItemContent& content() const { return *content_; }
  // Null: no such field, or of another kind.
  const NumberColumn* FindNumbers(std::string_view field) const;
  const KeywordColumn* FindKeywords(std::string_view field) const;
  const GeoColumn* FindPoints(std::string_view field) const;

  // Fields whose columns hold other values of the item than `record`, which lives, has; "(content)": the
  // hashes.
  std::vector<std::string> DifferingFields(ItemOrdinal item, const storage::ItemRecord& record) const;
  // What of the columns' indexes does not go with the columns, in words.
  std::vector<std::string> BrokenIndexes() const;
  // About what each part takes: columns under their field's name, the rest under "items".
  std::vector<std::pair<std::string, size_t>> MemoryBytes() const;

  // Where items have their year (Catalog::ReadYears); null: nowhere.
  struct Years {
    const NumberColumn* column = nullptr;
    bool times = false;
  };
  Years FindYears() const;

  // The parts of a checkpoint, each on its own: rows, content, then the columns in the schema's order.
  size_t part_count() const { return columns_.size() + 2; }
  void WritePart(size_t part, std::string* out) const;
  // False: it does not hold together. Parts are written one after the other beside changes, so that later
  // ones may have items that the first has not yet; `end`: one more than the largest ordinal that any item
  // has.
  bool ReadPart(size_t part, std::string_view bytes, size_t end);

 private:
  struct Column {
    Field field;
    bool year_name = false;
    std::shared_ptr<NumberColumn> numbers;    // one of
    std::shared_ptr<KeywordColumn> keywords;  // the three
    std::shared_ptr<GeoColumn> points;
    bool own = true;  // false: shared with the columns before, and already filled
  };
  ItemColumns() = default;
  // `fields` null: the item has none.
  void SetColumn(const Column& column, ItemOrdinal item, const google::protobuf::Struct* fields);
  bool FeedsContent(const google::protobuf::RepeatedPtrField<std::string>& changed) const;
  const Column* Find(std::string_view field) const;

  std::shared_ptr<const Schema> schema_;
  std::shared_ptr<ItemRows> rows_;
  std::shared_ptr<ItemContent> content_;
  bool own_content_ = true, needs_filling_ = false;
  std::vector<Column> columns_;
  absl::flat_hash_map<std::string, size_t> by_name_;
  std::vector<size_t> paths_;  // columns whose names have dots: they may lie inside objects
};

}  // namespace waymark
