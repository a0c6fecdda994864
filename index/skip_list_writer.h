// The skip list that stands behind a term's documents in Lucene's .frq file: every kSkipInterval documents an
// entry, of which every kSkipInterval-th stands on the next higher level too, with where its entry on the
// level below ends. ("Index File Formats" of Apache Lucene 2.9, section Frequencies.)
//
//   skips.Start(frequencies.size(), positions.size());
//   skips.Add(16, last_doc, frequencies.size(), positions.size());   // before the 16th document is written
//   skips.AppendTo(&frequencies);
//
// Not thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "index/append_file.h"
#include "index/compiled_segment.h"

namespace waymark {

inline constexpr uint32_t kSkipInterval = 16, kMostSkipLevels = 10;

class SkipListWriter {
 public:
  // Of a new term, whose documents and positions begin there.
  void Start(uint64_t frequencies_at, uint64_t positions_at);
  // `documents`: the number of the one that is to be written, from 1, a multiple of kSkipInterval; the other
  // arguments: what was written before it.
  void Add(uint32_t documents, DocNumber last_doc, uint64_t frequencies_at, uint64_t positions_at);
  void AppendTo(AppendFile* file) const;

 private:
  struct Point {
    DocNumber doc;
    uint64_t frequencies_at, positions_at;
  };
  struct Level {
    std::vector<uint8_t> bytes;
    Point last;
  };
  Point start_{};
  uint32_t used_ = 0;  // levels that have an entry
  std::array<Level, kMostSkipLevels> levels_;
};

}  // namespace waymark
