// Compiled segments on disk, beside the Lucene++ segments that they were made of:
//
//   _7-3f0c5a9e11d2b684.postings     of segment _7, whose files have this hash: Lucene++ uses a name again
//                                    after a commit was lost
//
// A file is an image (index/compiled_image.h), read into memory as it is: pages of 2 MiB, which mapped files
// do not get, make searches 5 to 9% faster. Files are derived: one that is missing or damaged is made again
// from its segment.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "index/index_manifest.h"
#include "index/index_snapshot.h"

namespace waymark {

// The names of the compiled files of a commit, by segment.
std::map<std::string, std::string> CompiledNames(const IndexManifest& manifest);

// What a file holds. NOT_FOUND: there is none. DATA_LOSS: damage, named. FAILED_PRECONDITION: a newer format.
absl::StatusOr<std::shared_ptr<const CompiledSegment>> ReadCompiled(const std::filesystem::path& file);

// Those of a commit's segments that can be used; others are logged and removed. `damage`: why, of the last
// one; left as it is where there was none.
std::vector<LiveSegment> LoadCompiled(const std::filesystem::path& folder, const IndexManifest& manifest,
                                      std::string* damage);

// Writes those of a commit's segments that are not there yet, and removes files of others.
absl::Status KeepCompiled(const std::filesystem::path& folder, const IndexManifest& manifest,
                          const std::vector<LiveSegment>& segments);

}  // namespace waymark
