// What lies beside the segments of an index and says which files belong to it, what they hold, and how far it
// has come: DATA/index/<tenant>-<collection>/manifest.json. Lucene++ does not check most of what it reads,
// and bytes that it takes for lengths can end the process; so every file is checked against the manifest
// before it is opened.
//
//   {"body": {"format": 2, "segments_file": "segments_5", "position": 1234, ..., "files": [{"name": "_3.frq",
//    "size": 811, "xxh3": "9f..."}]}, "xxh3": "..."}     the outer hash is over the body's compact text
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "index/indexed_fields.h"
#include "store/ids.h"

namespace waymark {

// 2: fields may have an analysis of their own; 1 is read.
inline constexpr int kIndexFormat = 2;
inline constexpr char kManifestName[] = "manifest.json";

struct IndexedFile {
  std::string name;
  uint64_t size = 0;
  uint64_t hash = 0;  // XXH3, 64 bits
  bool operator==(const IndexedFile&) const = default;
};

struct IndexManifest {
  std::string segments_file;  // Lucene++'s commit
  uint64_t epoch = 0;         // of the store whose log `position` counts
  LogOffset position = 0;
  std::string analysis;  // AnalysisName()
  IndexedFields fields;
  std::vector<IndexedFile> files;
};

// «path: what: why», of errno.
absl::Status FileError(absl::StatusCode code, const std::filesystem::path& path, const char* what);

// Sizes and hashes of files, made durable (fsync) as they are read. Those that `known` has keep its entry:
// Lucene++ writes each name once (except for segments.gen, which is only a hint to it and is read again).
absl::StatusOr<std::vector<IndexedFile>> SealFiles(const std::filesystem::path& folder,
                                                   const std::vector<std::string>& names,
                                                   const std::vector<IndexedFile>& known);

// Replaces the manifest: a new file, fsync, rename, fsync of the folder.
absl::Status WriteManifest(const std::filesystem::path& folder, const IndexManifest& manifest);

// Reads the manifest and checks every file that it names. NOT_FOUND: there is none. DATA_LOSS: something is
// damaged or missing, named. FAILED_PRECONDITION: the format is newer than this program's.
absl::StatusOr<IndexManifest> ReadManifest(const std::filesystem::path& folder);

}  // namespace waymark
