// The files that an export writes: each beside its name, and renamed when it is whole, with a note of what it
// is, by which a later export knows it again.
//
//   ShardWriter writer(folder, ShardPacking::kZstd);
//   if (!writer.Kept(name, &file)) status = writer.Write(name, raw, &file);
//
// Thread-safe, one thread a file.
#pragma once
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "training/shards/key_bundle.h"
#include "training/shards/record_seal.h"
#include "training/shards/shard_packing.h"
#include "waymark/storage/examples.pb.h"

namespace waymark {

class ShardWriter {
 public:
  ShardWriter(std::filesystem::path folder, ShardPacking packing)
      : folder_(std::move(folder)), packing_(packing) {}
  // Whether an export that was stopped has left the file complete; `file` is then what it was.
  bool Kept(const std::string& name, storage::ExamplesIndex::File* file) const;
  // raw: framed records. Fills name, sizes and hash of `file`, whose counts are the caller's.
  absl::Status Write(const std::string& name, const std::string& raw,
                     storage::ExamplesIndex::File* file) const;
  // Removes the note; the file is written again, or needs none any more.
  void Forget(const std::string& name) const;

 private:
  std::filesystem::path NoteOf(const std::string& name) const { return folder_ / (name + ".json"); }

  std::filesystem::path folder_;
  ShardPacking packing_;
};

// Appends a user's record as it lies in a file: sealed, where there are keys (else null).
absl::Status AppendUserRecord(const SealedKind& kind, const ShardKeys* keys, uint64_t user,
                              const std::string& record, std::string* raw);

// work(0) ... work(count - 1) on `threads` threads; the first error ends it. `progress`: done and all, from
// any thread, one at a time; may be empty. CANCELLED: a stop was asked for.
absl::Status RunSideBySide(int count, int threads, const std::function<void(int, int)>& progress,
                           const std::stop_token& stop, const std::function<absl::Status(int)>& work);

}  // namespace waymark
