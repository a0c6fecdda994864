// The item side of one collection in memory: which items live, their typed columns (updated in place), and
// filters over them. Fed by the store's listener, so an answered write is here before its writer knows of it.
//
//   auto catalog = Catalog::Open(store, scope);
//   auto filter = (*catalog)->CompileFilter("genres = \"Drama\" AND year >= 1990");
//   std::shared_ptr<const ItemSet> allowed = (*catalog)->Evaluate(**filter);
//
// Thread-safe: readers never wait for more than one small batch of changes.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "catalog/filter.h"
#include "catalog/geo_point.h"
#include "catalog/item_set.h"
#include "catalog/schema.h"
#include "store/part_check.h"
#include "store/store.h"

namespace waymark {

// A term of a keyword column, numbered within its field. Stable for the life of the catalog object.
using TermNumber = uint32_t;

class ItemColumns;

class Catalog {
 public:
  // Reads the newest checkpoint under DATA/catalog (when it is intact and of this format) and replays the log
  // after it; rebuilds from the store otherwise.
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(Store* store, Scope scope);
  ~Catalog();

  // Takes in changes, in log order. Those at or before position() are passed over.
  void Apply(absl::Span<const Change> changes);
  LogOffset position() const;
  // Waits until position() is at least `offset`. False: the deadline came first.
  bool WaitFor(LogOffset offset, absl::Time until) const;
  // Writes a checkpoint (to a new file, fsync, rename).
  absl::Status Checkpoint();
  // Changes of the log that Open() took in beyond the checkpoint.
  int64_t replayed_changes() const;
  // Compares every item of the store with its columns, and the columns with their indexes; also beside
  // writes. What differs goes into `check`; an error: the store could not be read.
  absl::Status Check(PartCheck* check) const;
  // Makes all columns anew from the store beside the live ones, swaps, and writes a checkpoint.
  absl::Status Rebuild();
  // Why the checkpoint was not used at the start; empty: it was, or there was none.
  std::string rebuild_reason() const;

  // Whether the item exists and is not deleted.
  bool Live(ItemOrdinal item) const;
  std::shared_ptr<const ItemSet> LiveItems() const;
  int64_t live_count() const;

  std::shared_ptr<const Schema> schema() const;
  // Declares a schema: checks every live item against it (FAILED_PRECONDITION names the first item and field
  // that do not fit), stores it, rebuilds the columns beside the live ones, swaps.
  absl::Status DeclareSchema(const storage::SchemaRecord& record);
  // Takes over a schema that has grown (Schema::ExtendedBy) and that the store has already (PutCollection),
  // before the items that it grew by are written. New fields cost nothing; a field whose type has changed is
  // filled from the store beside the live column.
  absl::Status AdoptSchema(std::shared_ptr<const Schema> schema);

  // Column reads, by request rather than by value: `values` has one entry for each item.
  // NaN where the item has no such number. Times are microseconds, booleans 0 and 1; of arrays the first.
  void ReadNumbers(std::string_view field, absl::Span<const ItemOrdinal> items,
                   absl::Span<double> values) const;
  // Metres from `from` to the nearest point of each item in a GEO field; infinite where it has none.
  void ReadDistances(std::string_view field, const GeoPoint& from, absl::Span<const ItemOrdinal> items,
                     absl::Span<double> metres) const;
  // Terms of a KEYWORD field, of each item, in the item's order.
  void ReadTerms(std::string_view field, absl::Span<const ItemOrdinal> items,
                 std::vector<std::vector<TermNumber>>* terms) const;
  std::string TermText(std::string_view field, TermNumber term) const;

  // Content as hashes, for vectors of items that nobody has touched yet and for title overlap: title words
  // and category values, each hashed with its field's name (XXH3 of "field\0value"). Empty for items that do
  // not live.
  void ReadContent(absl::Span<const ItemOrdinal> items, std::vector<std::vector<uint64_t>>* title_words,
                   std::vector<std::vector<uint64_t>>* categories) const;
  // The item's year: of the first INTEGER field with "year" in its name, else of the first one whose values
  // all lie in 1000..2999, else of the first TIME field; NaN where that holds no such year.
  void ReadYears(absl::Span<const ItemOrdinal> items, absl::Span<float> years) const;
  // When the item was first written; the infinite future for items that never were.
  void ReadCreateTimes(absl::Span<const ItemOrdinal> items, absl::Span<absl::Time> times) const;

  // About what each column takes, by field; "items": what does not belong to one.
  std::vector<std::pair<std::string, size_t>> MemoryBytes() const;

  // For catalog/ alone: one read of the columns under their lock. Changes wait meanwhile.
  void Read(absl::FunctionRef<void(const ItemColumns& columns)> read) const;

  // INVALID_ARGUMENT: syntax with its column, unknown fields, values of the wrong type, more than 1,000
  // terms, deeper than 50.
  absl::StatusOr<std::shared_ptr<const Filter>> CompileFilter(std::string_view text) const;
  // Live items that pass.
  std::shared_ptr<const ItemSet> Evaluate(const Filter& filter) const;
  // Whether one item passes now; false for items that do not live.
  bool Passes(const Filter& filter, ItemOrdinal item) const;

 private:
  class Impl;
  explicit Catalog(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
