// The rows of a table that a process holds: first, first + stride, ... of all.
#pragma once
#include <cstdint>

namespace waymark {

struct RowShare {
  int64_t first = 0, stride = 1;
  int64_t rows(int64_t of) const { return of <= first ? 0 : (of - first + stride - 1) / stride; }
};

}  // namespace waymark
