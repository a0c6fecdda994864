#include "catalog/geo_filter.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "catalog/field_value.h"

namespace waymark {
namespace {

using Kind = FilterNode::Kind;
using Word = FilterScanner::Word;

constexpr std::string_view kDistance = "geo_distance", kBox = "geo_box";
constexpr double kForEver = std::numeric_limits<double>::infinity();

std::string Example(std::string_view function) {
  return function == kDistance ? "geo_distance(location, 52.5, 13.4) < 10000"
                               : "geo_box(location, south, west, north, east)";
}

// Reads `count` numbers, each after a comma, and the closing parenthesis.
class GeoArguments {
 public:
  GeoArguments(std::string_view function, FilterScanner* scanner) : function_(function), scanner_(*scanner) {}

  absl::Status Read(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (!scanner_.Take(",")) return Expected("a comma and a number");
      absl::StatusOr<Word> word = scanner_.ReadValue();
      if (!word.ok()) return word.status();
      double number = 0;
      if (!absl::SimpleAtod(word->text, &number) || !std::isfinite(number)) {
        return scanner_.Error(word->at,
                              absl::StrCat("'", ShortenedText(word->text),
                                           "' is no number of degrees; it is written ", Example(function_)));
      }
      numbers.push_back(number);
      places.push_back(word->at);
    }
    return scanner_.Take(")") ? absl::OkStatus() : Expected("a )");
  }
  // The point whose latitude is number `i`.
  absl::Status CheckPoint(size_t i) const {
    const std::string_view wrong = WrongPoint({numbers[i], numbers[i + 1]});
    if (wrong.empty()) return absl::OkStatus();
    const size_t at = std::abs(numbers[i]) > 90 ? i : i + 1;
    return scanner_.Error(places[at],
                          absl::StrCat(std::string(wrong), "; it is written ", Example(function_)));
  }
  absl::Status Expected(std::string_view what) const {
    return scanner_.Error(
        scanner_.position(),
        absl::StrCat(std::string(what), " should be here; it is written ", Example(function_)));
  }

  std::vector<double> numbers;
  std::vector<size_t> places;  // where they stand

 private:
  const std::string_view function_;
  FilterScanner& scanner_;
};

// Metres, also as 10km or 500m.
std::optional<double> ReadMetres(std::string_view text) {
  double unit = 1;
  absl::string_view number(text.data(), text.size());
  if (absl::ConsumeSuffix(&number, "km")) {
    unit = 1000;
  } else {
    absl::ConsumeSuffix(&number, "m");
  }
  double metres = 0;
  if (!absl::SimpleAtod(number, &metres) || !std::isfinite(metres) || metres < 0) return std::nullopt;
  return metres * unit;
}

// The closed range of distances for which `distance OP metres` is true.
absl::Status ReadComparison(FilterScanner* scanner, FilterNode* node) {
  scanner->SkipSpace();
  const size_t at = scanner->position();
  static constexpr std::string_view kOperators[] = {"<=", ">=", "<", ">"};
  std::string_view symbol;
  for (const std::string_view candidate : kOperators) {
    if (symbol.empty() && scanner->Take(candidate)) symbol = candidate;
  }
  if (symbol.empty()) {
    return scanner->Error(at, absl::StrCat("a distance is compared by <, <=, > or >=: ", Example(kDistance)));
  }
  absl::StatusOr<Word> word = scanner->ReadValue();
  if (!word.ok()) return word.status();
  const std::optional<double> metres = ReadMetres(word->text);
  if (!metres) {
    return scanner->Error(word->at,
                          absl::StrCat("'", ShortenedText(word->text),
                                       "' is no distance; it takes metres (10000) or kilometres (10km)"));
  }
  double least = 0, greatest = kForEver;
  if (symbol == "<") greatest = std::nextafter(*metres, -kForEver);
  if (symbol == "<=") greatest = *metres;
  if (symbol == ">") least = std::nextafter(*metres, kForEver);
  if (symbol == ">=") least = *metres;
  node->numbers.insert(node->numbers.end(), {least, greatest});
  return absl::OkStatus();
}

}  // namespace

bool IsGeoFunction(const Word& name, FilterScanner* scanner) {
  return !name.quoted && (name.text == kDistance || name.text == kBox) && scanner->Peek() == '(';
}

absl::StatusOr<FilterNode> ReadGeoFunction(
    const Word& name, FilterScanner* scanner,
    absl::FunctionRef<absl::StatusOr<const Field*>(const Word& field, size_t at)> find) {
  const bool distance = name.text == kDistance;
  scanner->Take("(");
  absl::StatusOr<Word> field_name = scanner->ReadName();
  if (!field_name.ok()) return field_name.status();
  absl::StatusOr<const Field*> field = find(*field_name, field_name->at);
  if (!field.ok()) return field.status();
  GeoArguments arguments(distance ? kDistance : kBox, scanner);
  if (absl::Status status = arguments.Read(distance ? 2 : 4); !status.ok()) return status;
  for (size_t i = 0; i < arguments.numbers.size(); i += 2) {
    if (absl::Status status = arguments.CheckPoint(i); !status.ok()) return status;
  }
  FilterNode node{.kind = distance ? Kind::kGeoDistance : Kind::kGeoBox,
                  .field = (*field)->name(),
                  .type = (*field)->type()};
  node.numbers = arguments.numbers;
  if (distance) {
    if (absl::Status status = ReadComparison(scanner, &node); !status.ok()) return status;
  } else if (node.numbers[0] > node.numbers[2]) {
    return scanner->Error(arguments.places[0],
                          "the box's south lies north of its north; it is written geo_box(location, south, "
                          "west, north, east)");
  }
  return node;
}

GeoShape ShapeOf(const FilterNode& node) {
  const std::vector<double>& n = node.numbers;
  if (node.kind == Kind::kGeoDistance) return GeoShape::Distance({n[0], n[1]}, n[2], n[3]);
  return GeoShape::Box(n[0], n[1], n[2], n[3]);
}

const FilterNode* FindDistance(const FilterNode& root) {
  if (root.kind == Kind::kGeoDistance) return &root;
  for (const FilterNode& child : root.children) {
    if (const FilterNode* found = FindDistance(child)) return found;
  }
  return nullptr;
}

absl::StatusOr<DistanceArguments> ReadDistanceArguments(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(absl::string_view(text.data(), text.size()), ',');
  DistanceArguments arguments;
  if (parts.size() != 3 || !absl::SimpleAtod(absl::StripAsciiWhitespace(parts[1]), &arguments.from.lat) ||
      !absl::SimpleAtod(absl::StripAsciiWhitespace(parts[2]), &arguments.from.lon)) {
    return absl::InvalidArgumentError(
        absl::StrCat("geo_distance(", ShortenedText(text),
                     ") takes a field, a latitude and a longitude: geo_distance(location, 52.5, 13.4)"));
  }
  if (const std::string_view wrong = WrongPoint(arguments.from); !wrong.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("geo_distance(", ShortenedText(text), "): ", std::string(wrong)));
  }
  arguments.field = std::string(absl::StripAsciiWhitespace(parts[0]));
  const size_t size = arguments.field.size();
  if (size >= 2 && arguments.field.front() == '"' && arguments.field.back() == '"') {
    arguments.field = arguments.field.substr(1, size - 2);
  }
  return arguments;
}

}  // namespace waymark
