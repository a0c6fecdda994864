// How the bytes of a shard are packed on the disk: as they are, by gzip or by zstd. Other tools know the
// files by their ends: .tfrecord, .tfrecord.gz, .tfrecord.zst.
#pragma once
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace waymark {

enum class ShardPacking { kNone, kGzip, kZstd };

// "none", "gzip", "zstd". INVALID_ARGUMENT names what there is.
absl::StatusOr<ShardPacking> ShardPackingOf(std::string_view name);
const char* NameOf(ShardPacking packing);
// ".tfrecord.zst"
const char* EndingOf(ShardPacking packing);

absl::StatusOr<std::string> Pack(ShardPacking packing, std::string_view bytes);
// `raw_bytes`: how many there must be; nothing more is ever allocated. DATA_LOSS: it is not so.
absl::StatusOr<std::string> Unpack(ShardPacking packing, std::string_view bytes, uint64_t raw_bytes);

}  // namespace waymark
