// The numbers that stand for text ids inside Waymark. Text ids appear at the API's edge and in one id map
// each.
#pragma once
#include <cstdint>
#include <string>

namespace waymark {

// An item of one collection (and shard). Given out by the write that first names the item; never reused.
using ItemOrdinal = uint32_t;
inline constexpr ItemOrdinal kNoItem = 0xFFFFFFFFu;

// A user or visitor of one collection. 0: nobody.
using UserNumber = uint64_t;

// Where a change stands in the log of this data folder: 1 for the first, growing. 0: before all.
using LogOffset = uint64_t;

inline constexpr size_t kMaxIdBytes = 512;

// Names as operators write them.
struct CollectionName {
  std::string tenant = "default";
  std::string collection = "default";
  bool operator==(const CollectionName&) const = default;
};

// The same as numbers. Every key, segment, package and record begins with them.
struct Scope {
  uint32_t tenant = 0;
  uint32_t collection = 0;
  auto operator<=>(const Scope&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Scope& s) {
    return H::combine(std::move(h), s.tenant, s.collection);
  }
};

}  // namespace waymark
