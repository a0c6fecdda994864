// What a check of one part of a collection has seen: the store itself, or what is derived from it.
//
//   PartCheck check{.part = "catalog"};
//   check.Find("catalog/1-1/columns", "block 3 does not match its checksum", "...");
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/ids.h"

namespace waymark {

struct PartFinding {
  std::string where;   // a file below the data folder, an item, a field
  std::string what;    // what differs
  std::string remedy;  // what to do, or what was done
  bool repaired = false;
};

struct PartCheck {
  static constexpr size_t kMostFindings = 100;  // that are kept; all are counted

  std::string part;  // "store", "catalog", "index", ...
  int64_t files = 0, bytes = 0;
  int64_t items = 0;       // compared with the store
  LogOffset position = 0;  // that it has reached; 0: it does not follow the log
  std::vector<PartFinding> findings;
  int64_t findings_count = 0;

  void Find(std::string where, std::string what, std::string remedy) {
    ++findings_count;
    if (findings.size() == kMostFindings) return;
    findings.push_back({std::move(where), std::move(what), std::move(remedy)});
  }
  bool clean() const { return findings_count == 0; }
};

// What mends a part that is derived.
inline constexpr char kMadeAnew[] =
    "run `waymark check --repair`, which sets it aside and makes it anew from the store";

}  // namespace waymark
