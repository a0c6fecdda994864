// The distinct rows of a table that a batch uses, so that each is read once, its gradient is one row however
// often it was used, and a step's cost does not grow with the table.
//
//   DistinctRows distinct(table_rows);
//   places[t] = distinct.Place(row_of_token[t]);               // for each use
//   CopyRows(row_vectors, places, width, tokens);              // [uses, width], in the forward pass
//   AddRows(token_gradients, places, width, row_gradients);    // [rows, width], in the backward pass
//
// No LibTorch here: the loops compile with vectorisation flags of their own. One thread.
#pragma once
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace waymark {

class DistinctRows {
 public:
  // Takes rows 0 .. rows - 1.
  explicit DistinctRows(int64_t rows) : place_of_(static_cast<size_t>(rows), -1) {}
  // Forgets the rows of the batch before; costs what those were.
  void Clear();
  // The place of a row among the distinct ones, in the order of first use.
  int32_t Place(int64_t row) {
    int32_t& place = place_of_[static_cast<size_t>(row)];
    if (place < 0) {
      place = static_cast<int32_t>(rows_.size());
      rows_.push_back(row);
    }
    return place;
  }
  const std::vector<int64_t>& rows() const { return rows_; }
  size_t size() const { return rows_.size(); }
  int64_t operator[](size_t place) const { return rows_[place]; }

 private:
  std::vector<int64_t> rows_;
  std::vector<int32_t> place_of_;  // of each row of the table, or -1
};

// to[t] = from[places[t]]; to: [places, width].
void CopyRows(const float* from, absl::Span<const int32_t> places, int64_t width, float* to);
// to[places[t]] += from[t]; from: [places, width].
void AddRows(const float* from, absl::Span<const int32_t> places, int64_t width, float* to);

}  // namespace waymark
