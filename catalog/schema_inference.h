// How fields that nobody declared find their type from the data, and how a type gives way to later values.
//
//   {"title": "Toy Story", "genres": ["Animation"], "year": 1995}
//   title: TEXT, searched, the title · genres: KEYWORD array, category, searched · year: INTEGER, searched
//
// A new field, by its first value (null and [] say nothing, so the field waits for a later item):
//   whole number      INTEGER (searched when its name has "year" in it or the value lies in 1000..2999)
//   other number      FLOATING
//   true, false       BOOLEAN
//   text              TEXT, searched (numbers too): named title, name, text, description, body, abstract,
//   summary, overview,
//                     plot, content or extract; or more than 8 words; or more than 100 characters with a
//                     space among them; or more than 1,024 bytes TIME: an RFC 3339 date-time or date KEYWORD,
//                     filtered and searched, otherwise (addresses, https://..., are not searched)
//   array             the same, of what its elements have in common
//   {"lat": number, "lon": number} and nothing else
//                     GEO
//   object, or an array of objects or arrays
//                     OBJECT: kept and returned only. What lies inside is a field of its own, by the same
//                     rules:
//                     {"size": {"width": 30}} is size OBJECT and size.width INTEGER, and a name inside an
//                     array of objects is an array (catalog/object_paths.h)
// Numbers, times and booleans are filtered. Search weights are 1. Keyword fields with a category's name
// (genre, category, tag, class, brand, artist, cast, type, ... or their plurals) and arrays of keywords
// describe the item (category). The title is the field "title", else "name".
//
// A later value that its field cannot hold widens an inferred field where nothing is lost by it:
//   GEO to OBJECT; INTEGER to FLOATING; TIME and BOOLEAN to KEYWORD (the value's text); one value to an
//   array; KEYWORD to TEXT on prose (more than 8 words and more than 100 characters, or more than 1,024
//   bytes: a long name among short ones does not cost the field its filters). Numbers and booleans in KEYWORD
//   and TEXT fields are held as their text.
// Text in a numeric field is refused when it is no number: one «unknown» must not cost the whole field its
// ranges. Declare the field as KEYWORD to take both.
//
// At most 256 fields are found from the data, of which 128 inside objects; those that come later are kept and
// returned only.
#pragma once
#include <optional>
#include <string>

#include "catalog/schema.h"
#include "google/protobuf/struct.pb.h"

namespace waymark {

inline constexpr int kMostInferredFields = 256;
inline constexpr int kMostInferredPaths = 128;  // of them, inside objects
inline constexpr size_t kLongestKeywordBytes = 1024;

// The field that `value` suggests; none where it says nothing (null, an empty array or text).
std::optional<Field> InferField(const std::string& name, const google::protobuf::Value& value);

// `field` made to hold `value` too; none where it already does, or never can.
std::optional<Field> WidenField(const Field& field, const google::protobuf::Value& value);

}  // namespace waymark
