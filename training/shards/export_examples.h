// `waymark export examples`: from a store to training shards.
//
// Users are spread over files by their number, files are made side by side, each is written beside its name
// and renamed. The folder holds export.json until it is complete: the same export again, after a stop, keeps
// the files that are there and goes on with exactly the same part of the log.
//
// Each history is sealed under its user's key (record_seal.h), unless `plain`: then who may read the folder
// may read the histories, by users' numbers, and erasing a user does not reach them.
#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/statusor.h"
#include "catalog/catalog.h"
#include "store/clock.h"
#include "store/store.h"
#include "training/shards/shard_packing.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

struct ExportExamplesInput {
  const Store* store = nullptr;
  Scope scope;
  const Catalog* catalog = nullptr;
  std::string collection;  // its name, so that a stopped export of another one is told apart
};

struct ExportExamplesOptions {
  std::filesystem::path folder;  // made when it does not exist
  int files = 32;
  ShardPacking packing = ShardPacking::kZstd;
  int held_out = 1;  // newest events of each user that only validate
  int left_out = 0;  // newest events of each user that are not exported at all
  bool plain = false;
  int threads = 2;
  const Clock* clock = Clock::Real();
};

struct ExportedExamples {
  storage::ExamplesIndex index;
  int kept = 0;  // files of an export that was stopped
};

// `progress`: files done and all of them, from any thread, one at a time. ALREADY_EXISTS: the folder holds
// shards. FAILED_PRECONDITION: too little data, or a stopped export with other options (which are named).
// CANCELLED.
absl::StatusOr<ExportedExamples> ExportExamples(const ExportExamplesInput& input,
                                                const ExportExamplesOptions& options,
                                                const std::function<void(int, int)>& progress,
                                                std::stop_token stop);

}  // namespace waymark
