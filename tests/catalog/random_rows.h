// Random items and random filters with a meaning of their own, to hold the real evaluation against.
#pragma once
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "google/protobuf/struct.pb.h"

namespace waymark::tests {

// What one item holds, in plain C++.
struct Row {
  bool live = false;
  std::vector<std::string> genres;
  std::optional<std::string> brand;
  std::optional<int> year;
  std::optional<double> price;  // nearly every item another value
  std::vector<double> sizes;
  std::optional<bool> in_stock;
  std::optional<int> released_day;  // days since 1970
};

class RandomRows {
 public:
  explicit RandomRows(uint32_t seed) : random_(seed) {}
  Row MakeRow();
  static google::protobuf::Struct FieldsOf(const Row& row);
  static constexpr const char* kSchema = R"({"fields": [
    {"name": "genres", "type": "KEYWORD", "array": true, "filterable": true, "category": true},
    {"name": "brand", "type": "KEYWORD", "filterable": true},
    {"name": "year", "type": "INTEGER", "filterable": true},
    {"name": "price", "type": "FLOATING", "filterable": true},
    {"name": "sizes", "type": "FLOATING", "array": true, "filterable": true},
    {"name": "in_stock", "type": "BOOLEAN", "filterable": true},
    {"name": "released", "type": "TIME", "filterable": true}]})";

  // A filter of the grammar and what it says, by the rules of AIP-160 and docs/filters.md.
  struct Asked {
    std::string text;
    std::function<bool(const Row&)> passes;
  };
  Asked MakeFilter(int depth = 3);
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }

 private:
  Asked Factor(int depth);
  Asked Term(int depth);
  Asked Comparison();
  Asked Keyword();
  Asked Number();
  Asked Time();
  std::mt19937 random_;
};

}  // namespace waymark::tests
