// A model package: a folder with manifest.json, weights.safetensors and vocabularies. Immutable, and checked
// before use: the manifest holds each file's size and SHA-256; the package's own content hash is that of the
// manifest.
//
// This library needs protobuf and libcrypto only, so that waymark-train can carry it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "store/package/safetensors.h"
#include "waymark/storage/models.pb.h"

namespace waymark {

struct ModelPackage {
  std::filesystem::path folder;
  storage::ModelManifest manifest;
  std::string content_sha256;  // of manifest.json, lower-case hexadecimal
};

// Writes a package into `folder`, which must not exist yet: `tensors` as weights.safetensors, each vocabulary
// as NAME.txt with one entry a line (\\, \n and \r escaped). Fills the manifest's `format` and `files`.
// Atomic: built beside the folder, fsynced, renamed.
absl::StatusOr<ModelPackage> WriteModelPackage(
    const std::filesystem::path& folder, storage::ModelManifest manifest, const TensorMap& tensors,
    const std::map<std::string, std::vector<std::string>>& vocabularies);

// Reads the manifest and checks every file. DATA_LOSS names the file and what differs; FAILED_PRECONDITION a
// format that is newer than this program's; NOT_FOUND no such folder.
absl::StatusOr<ModelPackage> OpenModelPackage(const std::filesystem::path& folder);

absl::StatusOr<TensorMap> ReadWeights(const ModelPackage& package);
absl::StatusOr<std::vector<std::string>> ReadVocabulary(const ModelPackage& package, const std::string& name);

// INVALID_ARGUMENT when the network map has keys that are not in `known`, or lacks one of them.
absl::Status CheckNetworkKeys(const storage::ModelManifest& manifest, const std::vector<std::string>& known);

std::string Sha256Hex(std::string_view bytes);
absl::StatusOr<std::string> Sha256HexOfFile(const std::filesystem::path& file);

}  // namespace waymark
