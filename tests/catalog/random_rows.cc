#include "tests/catalog/random_rows.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>

namespace waymark::tests {
namespace {

const std::vector<std::string> kGenres = {"Drama", "drama", "Comedy",  "Science Fiction", "War",
                                          "Noir",  "Spy",   "Spy (2)", "Western \"W\"",   "Horror"};

std::string DayText(int day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  char text[16];
  std::snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool Compare(double a, const std::string& op, double b) {
  if (op == "=") return a == b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  return a >= b;
}

}  // namespace

Row RandomRows::MakeRow() {
  Row row;
  row.live = Below(20) > 0;
  for (int i = Below(4); i > 0; --i) {
    const std::string& genre = kGenres[static_cast<size_t>(std::min(Below(10), Below(10)))];
    if (std::find(row.genres.begin(), row.genres.end(), genre) == row.genres.end())
      row.genres.push_back(genre);
  }
  if (Below(3) > 0) row.brand = "brand " + std::to_string(Below(3000));
  if (Below(10) > 0) row.year = 1900 + Below(124);
  if (Below(5) > 0) row.price = Below(1000000) / 64.0 - 100;
  for (int i = Below(4); i > 0; --i) row.sizes.push_back(30 + Below(20) / 2.0);
  if (Below(4) > 0) row.in_stock = Below(2) == 0;
  if (Below(2) > 0) row.released_day = Below(20000);
  return row;
}

google::protobuf::Struct RandomRows::FieldsOf(const Row& row) {
  google::protobuf::Struct fields;
  auto& map = *fields.mutable_fields();
  for (const std::string& genre : row.genres) {
    map["genres"].mutable_list_value()->add_values()->set_string_value(genre);
  }
  if (row.brand) map["brand"].set_string_value(*row.brand);
  if (row.year) map["year"].set_number_value(*row.year);
  if (row.price) map["price"].set_number_value(*row.price);
  for (const double size : row.sizes) map["sizes"].mutable_list_value()->add_values()->set_number_value(size);
  if (row.in_stock) map["in_stock"].set_bool_value(*row.in_stock);
  if (row.released_day) map["released"].set_string_value(DayText(*row.released_day) + "T12:00:00Z");
  return fields;
}

// expression = factor { [ "AND" ] factor }
RandomRows::Asked RandomRows::MakeFilter(int depth) {
  Asked all = Factor(depth);
  for (int i = Below(3); i > 0; --i) {
    const Asked next = Factor(depth);
    all.text += (Below(3) > 0 ? " AND " : " ") + next.text;
    all.passes = [a = all.passes, b = next.passes](const Row& row) { return a(row) && b(row); };
  }
  return all;
}

// factor = term { "OR" term }
RandomRows::Asked RandomRows::Factor(int depth) {
  Asked any = Term(depth);
  for (int i = Below(3) > 0 ? 0 : 1 + Below(2); i > 0; --i) {
    const Asked next = Term(depth);
    any.text += " OR " + next.text;
    any.passes = [a = any.passes, b = next.passes](const Row& row) { return a(row) || b(row); };
  }
  return any;
}

// term = [ "NOT" | "-" ] simple
RandomRows::Asked RandomRows::Term(int depth) {
  Asked term = depth > 0 && Below(4) == 0 ? MakeFilter(depth - 1) : Asked{};
  term = term.passes ? Asked{"(" + term.text + ")", term.passes} : Comparison();
  if (Below(4) > 0) return term;
  return {(Below(2) == 0 ? "NOT " : "-") + term.text,
          [passes = term.passes](const Row& row) { return !passes(row); }};
}

RandomRows::Asked RandomRows::Comparison() {
  switch (Below(5)) {
    case 0:
    case 1:
      return Keyword();
    case 2:
    case 3:
      return Number();
    default:
      return Time();
  }
}

RandomRows::Asked RandomRows::Keyword() {
  const std::string genre = kGenres[static_cast<size_t>(Below(10))],
                    other = kGenres[static_cast<size_t>(Below(10))];
  const std::string brand = "brand " + std::to_string(Below(3500));
  const auto has = [](const std::string& wanted) {
    return [wanted](const Row& row) {
      return std::find(row.genres.begin(), row.genres.end(), wanted) != row.genres.end();
    };
  };
  switch (Below(8)) {
    case 0:
      return {"genres = " + Quoted(genre), has(genre)};
    case 1:
      return {"genres != " + Quoted(genre),
              [is = has(genre)](const Row& row) { return !row.genres.empty() && !is(row); }};
    case 2:
      return {"genres:" + Quoted(Lower(genre)), [lower = Lower(genre)](const Row& row) {
                return std::any_of(row.genres.begin(), row.genres.end(),
                                   [&](const std::string& g) { return Lower(g) == lower; });
              }};
    case 3:
      return {"genres:*", [](const Row& row) { return !row.genres.empty(); }};
    case 4:
      return {"genres IN (" + Quoted(genre) + ", " + Quoted(other) + ")",
              [a = has(genre), b = has(other)](const Row& row) { return a(row) || b(row); }};
    case 5:
      return {"brand != " + Quoted(brand),
              [brand](const Row& row) { return row.brand && *row.brand != brand; }};
    case 6:
      return {"brand:*", [](const Row& row) { return row.brand.has_value(); }};
    default:
      return {"brand = " + Quoted(brand),
              [brand](const Row& row) { return row.brand && *row.brand == brand; }};
  }
}

RandomRows::Asked RandomRows::Number() {
  static const std::string kOperators[] = {"=", "<", "<=", ">", ">="};
  const std::string op = kOperators[Below(5)];
  switch (Below(7)) {
    case 0: {
      const int year = 1895 + Below(135);
      return {"year " + op + " " + std::to_string(year),
              [=](const Row& row) { return row.year && Compare(*row.year, op, year); }};
    }
    case 1: {
      const int low = 1895 + Below(130), high = low + Below(30);
      return {"year:" + std::to_string(low) + ".." + std::to_string(high),
              [=](const Row& row) { return row.year && *row.year >= low && *row.year <= high; }};
    }
    case 2: {
      const double price = Below(1000000) / 64.0 - 100;
      return {"price " + op + std::to_string(price),
              [=](const Row& row) { return row.price && Compare(*row.price, op, price); }};
    }
    case 3: {
      const double low = Below(1000000) / 64.0 - 100;
      const double high = low + Below(200);
      return {"price:" + std::to_string(low) + ".." + std::to_string(high),
              [=](const Row& row) { return row.price && *row.price >= low && *row.price <= high; }};
    }
    case 4: {
      const double size = 30 + Below(20) / 2.0;
      return {"sizes " + op + " " + std::to_string(size), [=](const Row& row) {
                return std::any_of(row.sizes.begin(), row.sizes.end(),
                                   [&](double s) { return Compare(s, op, size); });
              }};
    }
    case 5: {
      const int year = 1900 + Below(124);
      return {"year != " + std::to_string(year),
              [=](const Row& row) { return row.year && *row.year != year; }};
    }
    default: {
      const bool in_stock = Below(2) == 0;
      return {std::string("in_stock = ") + (in_stock ? "true" : "false"),
              [=](const Row& row) { return row.in_stock && *row.in_stock == in_stock; }};
    }
  }
}

RandomRows::Asked RandomRows::Time() {
  const int day = Below(20000);
  const std::string text = DayText(day);
  switch (Below(4)) {
    case 0:
      return {"released = " + text,
              [=](const Row& row) { return row.released_day && *row.released_day == day; }};
    case 1:
      return {"released <= " + text,
              [=](const Row& row) { return row.released_day && *row.released_day <= day; }};
    case 2:
      return {"released > \"" + text + "T12:00:00Z\"",
              [=](const Row& row) { return row.released_day && *row.released_day > day; }};
    default: {
      const int last = day + Below(1000);
      return {"released:" + text + ".." + DayText(last), [=](const Row& row) {
                return row.released_day && *row.released_day >= day && *row.released_day <= last;
              }};
    }
  }
}

}  // namespace waymark::tests
