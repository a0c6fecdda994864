#include "catalog/filter.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "catalog/facet.h"
#include "catalog/filter_scanner.h"
#include "catalog/filter_value.h"
#include "catalog/geo_filter.h"
#include "catalog/nearest_name.h"
#include "catalog/schema_inference.h"

namespace waymark {
namespace {

using Kind = FilterNode::Kind;
using Node = absl::StatusOr<FilterNode>;
using storage::FieldRecord;
using Word = FilterScanner::Word;

// Recursive descent over the grammar of docs/filters.md. Its depth is that of the parentheses.
class FilterParser {
 public:
  FilterParser(std::string_view text, const Schema& schema) : scanner_(text), schema_(schema) {}

  Node Parse() {
    if (scanner_.AtEnd()) return FilterNode{};
    Node root = Expression(1);
    if (!root.ok() || scanner_.AtEnd()) return root;
    return scanner_.Error(scanner_.position(),
                          scanner_.Peek() == ')'
                              ? "this parenthesis closes nothing; take it out"
                              : absl::StrCat("'", std::string(1, scanner_.Peek()),
                                             "' was not expected here; join comparisons with AND or OR"));
  }

 private:
  // expression = factor { [ "AND" ] factor }
  Node Expression(int depth) {
    FilterNode all{.kind = Kind::kAnd};
    while (true) {
      Node factor = Factor(depth);
      if (!factor.ok()) return factor;
      all.children.push_back(*std::move(factor));
      if (scanner_.TakeWord("AND")) continue;
      const char next = scanner_.Peek();
      if (next == '\0' || next == ')' || next == ',') break;
    }
    return all.children.size() == 1 ? std::move(all.children[0]) : std::move(all);
  }

  // factor = term { "OR" term }
  Node Factor(int depth) {
    FilterNode any{.kind = Kind::kOr};
    do {
      Node term = Term(depth);
      if (!term.ok()) return term;
      any.children.push_back(*std::move(term));
    } while (scanner_.TakeWord("OR"));
    return any.children.size() == 1 ? std::move(any.children[0]) : std::move(any);
  }

  // term = [ "NOT" | "-" ] ( "(" expression ")" | comparison )
  Node Term(int depth) {
    const bool negated = scanner_.TakeWord("NOT") || scanner_.Take("-");
    const size_t at = (scanner_.SkipSpace(), scanner_.position());
    Node inner = FilterNode{};
    if (scanner_.Take("(")) {
      if (depth > kDeepestFilter) {
        return scanner_.Error(at, absl::StrCat("parentheses are nested deeper than ", kDeepestFilter));
      }
      inner = Expression(depth + 1);
      if (inner.ok() && !scanner_.Take(")")) {
        return scanner_.AtEnd()
                   ? scanner_.Error(at, "this parenthesis is not closed; add )")
                   : scanner_.Error(scanner_.position(), "a ) or another comparison should be here");
      }
    } else {
      inner = Comparison();
    }
    if (!inner.ok() || !negated) return inner;
    FilterNode node{.kind = Kind::kNot};
    node.children.push_back(*std::move(inner));
    return node;
  }

  // comparison = field ( operator value | "IN" "(" value { "," value } ")" ) | geo function
  Node Comparison() {
    absl::StatusOr<Word> name = scanner_.ReadName();
    if (!name.ok()) return name.status();
    if (IsGeoFunction(*name, &scanner_)) {
      Node node = ReadGeoFunction(*name, &scanner_, [this](const Word& field, size_t at) {
        return FindField(field, Kind::kGeoBox, at);
      });
      if (!node.ok()) return node;
      if (absl::Status status = CountTerm(name->at); !status.ok()) return status;
      return node;
    }
    if (!name->quoted && name->text == "path" && scanner_.Peek() == '(') return Path(*name);
    const size_t at = (scanner_.SkipSpace(), scanner_.position());
    const bool in = scanner_.TakeWord("IN");
    const std::optional<Kind> kind = in ? Kind::kIn : Operator();
    if (!kind) return NoOperator(*name, at);
    absl::StatusOr<const Field*> field = FindField(*name, *kind, at);
    if (!field.ok()) return field.status();
    FilterNode node{.kind = *kind, .field = (*field)->name(), .type = (*field)->type()};
    const absl::Status status = in ? List(**field, &node) : Value(**field, &node);
    if (!status.ok()) return status;
    return node;
  }

  // "path" "(" field "," value [ "," separator ] ")"
  Node Path(const Word& function) {
    scanner_.Take("(");
    absl::StatusOr<Word> name = scanner_.ReadName();
    if (!name.ok()) return name.status();
    absl::StatusOr<const Field*> field = FindField(*name, Kind::kPath, name->at);
    if (!field.ok()) return field.status();
    if ((*field)->type() != FieldRecord::KEYWORD) {
      return scanner_.Error(
          name->at, absl::StrCat("field '", (*field)->name(), "' is ",
                                 std::string(TypeName((*field)->type())), "; path() takes a KEYWORD field"));
    }
    FilterNode node{.kind = Kind::kPath, .field = (*field)->name(), .type = (*field)->type()};
    while (node.texts.size() < 2 && scanner_.Take(",")) {
      absl::StatusOr<Word> word = scanner_.ReadValue();
      if (!word.ok()) return word.status();
      if (word->text.empty()) return scanner_.Error(word->at, "paths and separators are not empty");
      node.texts.push_back(word->text);
    }
    if (node.texts.empty() || !scanner_.Take(")")) {
      return scanner_.Error(scanner_.position(),
                            absl::StrCat("path is written path(", (*field)->name(),
                                         ", \"Electronics > Audio\"), and takes the separator "
                                         "after it where that is not \" > \""));
    }
    if (node.texts.size() == 1) node.texts.push_back(kPathSeparator);
    if (absl::Status status = CountTerm(function.at); !status.ok()) return status;
    return node;
  }

  std::optional<Kind> Operator() {
    static constexpr std::pair<std::string_view, Kind> kOperators[] = {
        {"!=", Kind::kNotEquals}, {"<=", Kind::kLessEqual}, {">=", Kind::kGreaterEqual}, {"<", Kind::kLess},
        {">", Kind::kGreater},    {"=", Kind::kEquals},     {":", Kind::kHas},
    };
    for (const auto& [symbol, kind] : kOperators) {
      if (!scanner_.Take(symbol)) continue;
      if (kind == Kind::kEquals) scanner_.TakeHere("=");  // == is meant as =
      return kind;
    }
    return std::nullopt;
  }

  absl::Status NoOperator(const Word& name, size_t at) {
    std::string upper = name.text;
    absl::AsciiStrToUpper(&upper);
    if (!name.quoted && (upper == "AND" || upper == "OR" || upper == "NOT" || upper == "IN")) {
      return scanner_.Error(
          name.at, upper == name.text
                       ? absl::StrCat("a comparison (field = value) should stand where ", upper, " is")
                       : absl::StrCat("write ", upper, " in capitals"));
    }
    if (schema_.Find(name.text) != nullptr || scanner_.Peek() == '!') {
      return scanner_.Error(at, absl::StrCat("field '", ShortenedText(name.text),
                                             "' needs an operator here: one of = != < <= > >= : IN"));
    }
    return scanner_.Error(name.at, absl::StrCat("'", ShortenedText(name.text),
                                                "' stands alone; write field = value (words that items are "
                                                "searched by belong into the query)"));
  }

  absl::StatusOr<const Field*> FindField(const Word& name, Kind kind, size_t operator_at) {
    const Field* field = schema_.Find(name.text);
    if (field == nullptr) return UnknownField(name);
    const std::string shown = absl::StrCat("field '", field->name(), "' ");
    if (field->type() == FieldRecord::TEXT) {
      return scanner_.Error(name.at,
                            absl::StrCat(shown,
                                         "is TEXT, which the query searches and filters do not compare; "
                                         "declare it, or a copy of it, as KEYWORD to filter by it"));
    }
    if (field->type() == FieldRecord::OBJECT) {
      return scanner_.Error(name.at,
                            absl::StrCat(shown,
                                         "is OBJECT, kept and returned only; lift what you filter by "
                                         "into a field of its own"));
    }
    if (!field->filterable()) {
      return scanner_.Error(name.at,
                            absl::StrCat(shown, "is not filterable; declare it with filterable = true"));
    }
    const bool geo = kind == Kind::kGeoBox;
    if (geo != (field->type() == FieldRecord::GEO) && kind != Kind::kHas) {
      return scanner_.Error(
          geo ? name.at : operator_at,
          absl::StrCat(shown, "is ", std::string(TypeName(field->type())),
                       geo ? "; this takes a GEO field"
                           : absl::StrCat("; it takes ", field->name(), ":*, geo_distance(", field->name(),
                                          ", 52.5, 13.4) < 10000 (metres) and geo_box(", field->name(),
                                          ", south, west, north, east)")));
    }
    if (field->type() == FieldRecord::VECTOR) {
      return scanner_.Error(name.at, absl::StrCat(shown, "is VECTOR, which requests with a vector search"));
    }
    const bool ordered = kind == Kind::kLess || kind == Kind::kLessEqual || kind == Kind::kGreater ||
                         kind == Kind::kGreaterEqual;
    if (ordered && (field->type() == FieldRecord::KEYWORD || field->type() == FieldRecord::BOOLEAN)) {
      return scanner_.Error(operator_at, absl::StrCat(shown, "is ", std::string(TypeName(field->type())),
                                                      ", which has no order; it takes = != : and IN"));
    }
    return field;
  }

  absl::Status UnknownField(const Word& name) {
    std::vector<std::string_view> known;
    for (const Field& field : schema_.fields()) {
      if (field.filterable()) known.push_back(field.name());
    }
    const std::string nearest = NearestName(name.text, known);
    std::string hint;
    if (!nearest.empty()) {
      hint = absl::StrCat("; did you mean '", nearest, "'?");
    } else if (known.empty()) {
      hint = "; it has no fields to filter by yet";
    } else {
      hint = "; there are ";
      for (size_t i = 0; i < std::min<size_t>(known.size(), 8); ++i) {
        absl::StrAppend(&hint, i == 0 ? "'" : ", '", std::string(known[i]), "'");
      }
      if (known.size() > 8) hint += ", ...";
    }
    if (!schema_.record().declared() && schema_.record().fields_size() >= kMostInferredFields) {
      absl::StrAppend(
          &hint, "; ", kMostInferredFields,
          " fields were found in the data, and no more are: a field beyond them has to be declared");
    }
    return scanner_.Error(name.at,
                          absl::StrCat("field '", ShortenedText(name.text), "' is not in the schema", hint));
  }

  absl::Status CountTerm(size_t at) {
    if (++terms_ <= kMostFilterTerms) return absl::OkStatus();
    return scanner_.Error(at, absl::StrCat("more than ", kMostFilterTerms, " values; split the filter"));
  }

  absl::Status List(const Field& field, FilterNode* node) {
    if (!scanner_.Take("(")) {
      return scanner_.Error(
          scanner_.position(),
          absl::StrCat("IN takes a list in parentheses: ", field.name(), " IN (\"a\", \"b\")"));
    }
    do {
      absl::StatusOr<Word> word = scanner_.ReadValue();
      if (!word.ok()) return word.status();
      if (absl::Status status = AddValue(field, *word, node); !status.ok()) return status;
    } while (scanner_.Take(","));
    if (scanner_.Take(")")) return absl::OkStatus();
    return scanner_.Error(scanner_.position(), "the list of IN goes on with a comma or ends with )");
  }

  absl::Status Value(const Field& field, FilterNode* node) {
    absl::StatusOr<Word> word = scanner_.ReadValue();
    if (!word.ok()) return word.status();
    if (node->kind == Kind::kHas && !word->quoted && word->text == "*") return CountTerm(word->at);
    if (field.type() == FieldRecord::GEO) {
      return scanner_.Error(
          word->at, absl::StrCat("field '", field.name(), "' is GEO; after ':' it takes * (", field.name(),
                                 ":*); circles are geo_distance(", field.name(), ", 52.5, 13.4) < 10000"));
    }
    if (node->kind == Kind::kHas && IsNumeric(field.type()) && field.type() != FieldRecord::BOOLEAN) {
      bool range = false;
      absl::Status status = Range(field, *word, node, &range);
      if (range || !status.ok()) return status;
    }
    return AddValue(field, *word, node);
  }

  // range = [ value ] ".." [ value ], without spaces; both ends are in it.
  absl::Status Range(const Field& field, const Word& first, FilterNode* node, bool* range) {
    std::optional<Word> low, high;
    const size_t dots = first.quoted ? std::string::npos : first.text.find("..");
    if (dots != std::string::npos) {
      if (dots > 0) low = Word{first.text.substr(0, dots), false, first.at};
      if (dots + 2 < first.text.size()) high = Word{first.text.substr(dots + 2), false, first.at + dots + 2};
    } else if (first.quoted && scanner_.TakeHere("..")) {
      low = first;
    } else {
      return absl::OkStatus();
    }
    *range = true;
    if (!high) {
      const size_t before = scanner_.position();
      scanner_.SkipSpace();
      const bool adjoins = scanner_.position() == before && !scanner_.AtEnd() && scanner_.Peek() != ')';
      if (adjoins) {
        absl::StatusOr<Word> end = scanner_.ReadValue();
        if (!end.ok()) return end.status();
        high = *end;
      }
    }
    if (!low && !high)
      return scanner_.Error(first.at, "a range needs at least one end, as in 1990.. or ..1999");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    NumberInterval interval{-kInfinity, kInfinity};
    for (const auto& [word, is_low] : {std::pair{low, true}, std::pair{high, false}}) {
      if (!word) continue;
      const std::optional<NumberInterval> value = ReadInterval(field, word->text);
      if (!value) return scanner_.Error(word->at, NotOfType(field, word->text));
      (is_low ? interval.lowest : interval.highest) = is_low ? value->lowest : value->highest;
    }
    if (interval.lowest > interval.highest) {
      return scanner_.Error(first.at, "the range ends before it begins; swap its ends");
    }
    node->numbers = {interval.lowest, interval.highest};
    return CountTerm(first.at);
  }

  absl::Status AddValue(const Field& field, const Word& word, FilterNode* node) {
    if (field.type() == FieldRecord::KEYWORD) {
      if (!word.quoted && word.text == "*") {
        return scanner_.Error(
            word.at, absl::StrCat("'*' asks whether a field is there and goes with ':' (", field.name(),
                                  ":*); put it in quotes to compare with it"));
      }
      node->texts.push_back(word.text);
      return CountTerm(word.at);
    }
    const std::optional<NumberInterval> value = ReadInterval(field, word.text);
    if (!value) return scanner_.Error(word.at, NotOfType(field, word.text));
    const NumberInterval compared = Compared(node->kind, *value);
    node->numbers.insert(node->numbers.end(), {compared.lowest, compared.highest});
    return CountTerm(word.at);
  }

  FilterScanner scanner_;
  const Schema& schema_;
  int terms_ = 0;
};

}  // namespace

absl::StatusOr<Filter> ParseFilter(std::string_view text, const Schema& schema) {
  if (text.size() > kMostFilterBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("filter: ", text.size(), " bytes; at most ", kMostFilterBytes, " are taken"));
  }
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError("filter: it is no valid UTF-8");
  Node root = FilterParser(text, schema).Parse();
  if (!root.ok()) return root.status();
  return Filter{*std::move(root), std::string(text)};
}

}  // namespace waymark
