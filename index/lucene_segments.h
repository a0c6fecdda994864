// The durable form of an index: Lucene++ segments in one folder. Written by one thread; what was written is
// seen in compiled form after Refresh(), and is durable after Commit().
//
//   auto segments = LuceneSegments::Create(folder);
//   (*segments)->Put(item, {{"title", &terms}}, /*replaces=*/false);
//   auto compiled = (*segments)->Refresh({});
//   auto commit = (*segments)->Commit({{"position", "17"}});
//
// Not thread-safe.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "index/analyzer.h"
#include "index/index_snapshot.h"
#include "store/ids.h"

namespace waymark {

struct FieldTerms {
  std::string field;  // the schema's name
  TermList terms;     // not empty
};

struct LuceneCommit {
  std::string segments_file;       // "segments_5"
  std::vector<std::string> files;  // all that the commit consists of, sorted
  std::map<std::string, std::string> user_data;
};

// A segment that a bulk load has made (index/bulk_part.h), on its way into an index.
struct BulkSegment {
  int number = 0;
  std::string name;                // "_7", of the number
  std::filesystem::path folder;    // where its files are
  std::vector<std::string> files;  // Lucene's
  DocNumber documents = 0;
  bool has_positions = false;  // a document has a term in a searched field
  std::shared_ptr<const CompiledSegment> compiled;
};

// Numbers that one part of a bulk load may name its segments by.
inline constexpr int kSegmentNamesOfPart = 1024;

class LuceneSegments {
 public:
  // Begins an empty index in a folder, which is made when it is missing and should be empty.
  static absl::StatusOr<std::unique_ptr<LuceneSegments>> Create(const std::filesystem::path& folder);
  // Goes on from a commit, named by its segments_N file; what was written later is dropped. DATA_LOSS:
  // damage.
  static absl::StatusOr<std::unique_ptr<LuceneSegments>> Open(const std::filesystem::path& folder,
                                                              const std::string& segments_file);
  // Drops what was not committed.
  ~LuceneSegments();

  // Adds a document; `replaces`: an older one of the item may be there and is deleted.
  absl::Status Put(ItemOrdinal item, absl::Span<const FieldTerms> fields, bool replaces);
  absl::Status Delete(ItemOrdinal item);
  // Makes one segment of all.
  absl::Status Merge();
  // The segments with everything written so far. Compiles those that `previous` (the answer of the last call,
  // or what was read from compiled files) does not have.
  absl::StatusOr<std::vector<LiveSegment>> Refresh(const std::vector<LiveSegment>& previous);
  // Makes everything written so far durable, except for an fsync of the files, which the manifest does. The
  // files of the commit before stay until the next one, so that a manifest that names them stays good.
  // Lucene++ keeps `user_data` only where there was something to commit.
  absl::StatusOr<LuceneCommit> Commit(const std::map<std::string, std::string>& user_data);

  // The first segment number of parts that are to be adopted: no segment of this index has one from there on.
  absl::StatusOr<int> BeginParts();
  // Takes segments of a bulk load as its own: their files move into this index's folder, on the same
  // filesystem. What was compiled of them stays good. All commits since BeginParts() stay until the Commit()
  // after the next one.
  absl::Status Adopt(absl::Span<const BulkSegment> segments);

 private:
  struct Impl;
  explicit LuceneSegments(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace waymark
