#include "training/shards/shard_files.h"

#include <system_error>

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "store/package/package_files.h"
#include "training/shards/record_frames.h"
#include "training/shards/record_seal.h"
#include "training/shards/shard_packing.h"

namespace waymark {
namespace {

constexpr uint64_t kMaxShardBytes = uint64_t{16} << 30;

absl::Status InFile(const std::filesystem::path& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat("the shard ", path.string(), ": ", status.message()));
}

absl::Status DamagedFile(const std::filesystem::path& path, const std::string& what) {
  return absl::DataLossError(
      absl::StrCat("the shard ", path.string(), " ", what, "; export again, or copy the folder again"));
}

}  // namespace

absl::Status ShardFiles::ReadRecords(const storage::ExamplesIndex::File& file,
                                     const std::function<absl::Status(std::string_view)>& visit) const {
  const std::filesystem::path path = folder_ / file.name();
  if (file.name().find('/') != std::string::npos) {
    return absl::DataLossError(absl::StrCat("the index names a file '", file.name(), "' outside its folder"));
  }
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) {
    return absl::NotFoundError(absl::StrCat("the shard ", path.string(), " is missing: ", error.message()));
  }
  if (size != static_cast<uint64_t>(file.bytes())) {
    return DamagedFile(path, absl::StrCat("has ", size, " bytes, the index says ", file.bytes()));
  }
  auto bytes = ReadWholeFile(path, kMaxShardBytes);
  if (!bytes.ok()) return bytes.status();
  if (Sha256Hex(*bytes) != file.sha256()) return DamagedFile(path, "does not have the SHA-256 of the index");
  auto packing = ShardPackingOf(compression_);
  if (!packing.ok()) return InFile(path, packing.status());
  if (file.raw_bytes() < 0 || static_cast<uint64_t>(file.raw_bytes()) > kMaxShardBytes) {
    return DamagedFile(path, absl::StrCat("would unpack to ", file.raw_bytes(), " bytes"));
  }
  auto raw = Unpack(*packing, *bytes, static_cast<uint64_t>(file.raw_bytes()));
  if (!raw.ok()) return InFile(path, raw.status());
  RecordFrames frames(*raw);
  std::string_view payload;
  while (frames.Next(&payload)) {
    absl::Status status = visit(payload);
    if (!status.ok())
      return InFile(path, absl::Status(status.code(), absl::StrCat("record ", frames.records() - 1, ": ",
                                                                   status.message())));
  }
  if (!frames.status().ok()) return InFile(path, frames.status());
  if (static_cast<int64_t>(frames.records()) != file.examples() + file.erased()) {
    return DamagedFile(path, absl::StrCat("has ", frames.records(), " records, the index says ",
                                          file.examples() + file.erased()));
  }
  ++files_read_;
  bytes_read_ += file.bytes();
  return absl::OkStatus();
}

absl::Status ShardFiles::ReadUserRecords(const storage::ExamplesIndex::File& file,
                                         const std::function<absl::Status(std::string_view)>& visit) const {
  if (!seal_.sealed) return ReadRecords(file, visit);
  if (seal_.keys == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("the shards in ", folder_.string(),
                                                      " are sealed: a key bundle opens them, which ",
                                                      "`waymark export keys` writes"));
  }
  auto packing = ShardPackingOf(compression_);
  if (!packing.ok()) return InFile(folder_ / file.name(), packing.status());
  SealedRecord sealed;
  int64_t erased = 0;
  const absl::Status read = ReadRecords(file, [&](std::string_view record) -> absl::Status {
    if (absl::Status parsed = ParseSealedRecord(record, &sealed); !parsed.ok()) return parsed;
    auto key = seal_.keys->Find(sealed.user);
    if (!key.ok()) return key.status();
    if (key->empty()) {
      ++erased;
      return absl::OkStatus();
    }
    auto opened = OpenSealedRecord({seal_.kind, *packing}, *key, sealed);
    return opened.ok() ? visit(*opened) : opened.status();
  });
  if (!read.ok()) return read;
  if (erased == file.erased()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the shard ", (folder_ / file.name()).string(), " has ", erased,
                                          " records of erased users, the key bundle says ", file.erased(),
                                          "; make another one with `waymark export keys`"));
}

}  // namespace waymark
