// Records of the registry family, read by prefix. For the .cc files of this folder only.
#pragma once
#include <spdlog/spdlog.h>

#include <string>
#include <vector>

#include "store/database_impl.h"

namespace waymark {

// In the order of their keys. What cannot be read is left out and logged: the others are still of use.
template <typename Record>
std::vector<Record> ReadRegistry(const Database& database, const std::string& prefix) {
  std::vector<Record> records;
  const auto walk = database.Walk(Family::kRegistry, prefix);
  for (; walk->Valid(); walk->Next()) {
    Record record;
    if (absl::Status status = ParseRecord(walk->value(), "registry entry", record); !status.ok()) {
      spdlog::error("{}: {}", database.folder().string(), status.ToString());
      continue;
    }
    records.push_back(std::move(record));
  }
  if (!walk->status().ok()) spdlog::error("the registry: {}", database.Check(walk->status()).ToString());
  return records;
}

}  // namespace waymark
