// What a cell of text, or a value of a JSON row, is taken as.
//
//   auto type = ParseCellType("split(|)");
//   auto value = CellValue("Animation|Children", *type);   // a list of two texts
#pragma once
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

struct CellType {
  enum class Kind {
    kAuto,  // found from the data (column_types.h); JSON values stay as they are
    kText,
    kInteger,  // whole, within 2^53
    kNumber,
    kBoolean,  // true/false, yes/no, 1/0
    kTime,     // RFC 3339, or epoch seconds or milliseconds; becomes RFC 3339
    kJson,     // any JSON value
    kSplit,    // a list of texts, between `separator`s
    kWords,    // a list of texts, between blanks (RecBole's token_seq)
    kNumbers,  // a list of numbers, between blanks (RecBole's float_seq)
    kPoint,    // "52.5,13.4", or the numbers of two columns: an object of lat and lon
  };
  Kind kind = Kind::kAuto;
  std::string separator;
  bool operator==(const CellType&) const = default;
};

// «text», «integer», «number», «boolean», «time», «json», «words», «numbers», «point», «split(SEPARATOR)»,
// and RecBole's token, float, token_seq, float_seq. INVALID_ARGUMENT lists them.
absl::StatusOr<CellType> ParseCellType(absl::string_view name);
std::string CellTypeName(const CellType& type);

// None for an empty cell (an absent field). INVALID_ARGUMENT says what the cell holds and what was wanted.
absl::StatusOr<std::optional<google::protobuf::Value>> CellValue(absl::string_view cell,
                                                                 const CellType& type);

// A point of two cells. None where both are empty; INVALID_ARGUMENT where one is, or one is no number in its
// range.
absl::StatusOr<std::optional<google::protobuf::Value>> PointOfCells(absl::string_view latitude,
                                                                    absl::string_view longitude);

// The same for a value of a JSON row: 1995 as kText is "1995", "1995" as kInteger is 1995.
absl::StatusOr<std::optional<google::protobuf::Value>> TypedValue(const google::protobuf::Value& value,
                                                                  const CellType& type);

// -?(0|[1-9][0-9]*) within 2^53; or any number that JSON can write and a double can hold.
bool IsExactInteger(absl::string_view text);
bool IsJsonNumber(absl::string_view text);

}  // namespace waymark
