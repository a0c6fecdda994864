#include "training/shards/key_bundle.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "store/package/package_files.h"
#include "training/shards/record_seal.h"

namespace waymark {
namespace {

constexpr std::string_view kMagic = "WAYMKEYS";
constexpr uint32_t kBundleFormat = 1;
constexpr size_t kHeadBytes = 12, kSumBytes = 64;
constexpr uint64_t kMaxBundleBytes = uint64_t{2} << 30;
constexpr char kMakeAgain[] = "make another one with `waymark export keys`";

absl::Status NoBundle(const std::filesystem::path& file, std::string_view what) {
  return absl::DataLossError(
      absl::StrCat("the key bundle ", file.string(), " ", std::string(what), "; ", kMakeAgain));
}

std::string TimeOf(int64_t us) {
  return absl::FormatTime(absl::RFC3339_sec, absl::FromUnixMicros(us), absl::UTCTimeZone());
}

bool Knows(const google::protobuf::RepeatedField<uint64_t>& users, uint64_t user, size_t* place) {
  const auto found = std::lower_bound(users.begin(), users.end(), user);
  *place = static_cast<size_t>(found - users.begin());
  return found != users.end() && *found == user;
}

}  // namespace

absl::Status WriteKeyBundle(const std::filesystem::path& file, const storage::KeyBundle& bundle) {
  std::string bytes(kMagic);
  bytes.append(reinterpret_cast<const char*>(&kBundleFormat), sizeof(kBundleFormat));
  if (!bundle.AppendToString(&bytes)) return absl::ResourceExhaustedError("the keys are more than 2 GB");
  bytes += Sha256Hex(bytes);
  const std::filesystem::path fresh = file.string() + ".new";
  std::error_code error;
  std::filesystem::remove(fresh, error);
  // Nobody else may read it, not for a moment: it is made with its mode, then filled.
  const int made = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot make ", fresh.string(), ": ", std::strerror(errno)));
  }
  close(made);
  const std::string_view part = bytes;
  if (absl::Status written = WriteSyncedFile(fresh, {&part, 1}); !written.ok()) {
    std::filesystem::remove(fresh, error);
    return written;
  }
  std::filesystem::rename(fresh, file, error);
  if (error) {
    const std::string why = error.message();
    std::filesystem::remove(fresh, error);  // keys that nobody looks for
    return absl::UnavailableError(absl::StrCat("cannot write ", file.string(), ": ", why));
  }
  return SyncFolder(std::filesystem::absolute(file, error).parent_path());
}

absl::StatusOr<storage::KeyBundle> ReadKeyBundle(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return absl::NotFoundError(
        absl::StrCat("there is no key bundle ", file.string(), "; `waymark export keys` writes one"));
  }
  auto bytes = ReadWholeFile(file, kMaxBundleBytes);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() < kHeadBytes + kSumBytes || bytes->compare(0, kMagic.size(), kMagic) != 0) {
    return NoBundle(file, "is no key bundle, or cut off");
  }
  const std::string_view all = *bytes, content = all.substr(0, all.size() - kSumBytes);
  uint32_t format = 0;
  std::memcpy(&format, all.data() + kMagic.size(), sizeof(format));
  if (format > kBundleFormat) {
    return absl::FailedPreconditionError(absl::StrCat("the key bundle ", file.string(), " has format ",
                                                      format, "; this program reads up to ", kBundleFormat));
  }
  if (Sha256Hex(content) != all.substr(content.size())) return NoBundle(file, "does not match its checksum");
  storage::KeyBundle bundle;
  const std::string_view body = content.substr(kHeadBytes);
  if (!bundle.ParseFromArray(body.data(), static_cast<int>(body.size())) ||
      bundle.keys().size() != kFolderKeyBytes * static_cast<size_t>(bundle.users_size()) ||
      !std::is_sorted(bundle.users().begin(), bundle.users().end()) ||
      !std::is_sorted(bundle.erased_users().begin(), bundle.erased_users().end())) {
    return NoBundle(file, "cannot be read");
  }
  return bundle;
}

absl::StatusOr<ShardKeys> ShardKeys::Read(const std::filesystem::path& file, const Use& use) {
  auto bundle = ReadKeyBundle(file);
  if (!bundle.ok()) return bundle.status();
  if (absl::ToUnixMicros(use.now) >= bundle->expire_time_us()) {
    return absl::FailedPreconditionError(absl::StrCat("the key bundle ", file.string(), " has expired at ",
                                                      TimeOf(bundle->expire_time_us()), ", and it is ",
                                                      TimeOf(absl::ToUnixMicros(use.now)), "; ", kMakeAgain));
  }
  if (bundle->shards_sha256() != use.shards_sha256) {
    return absl::FailedPreconditionError(
        absl::StrCat("the key bundle ", file.string(), " belongs to other shards (fingerprint ",
                     bundle->shards_sha256().substr(0, 12), "...) than ", use.shards.string(), " (",
                     use.shards_sha256.substr(0, 12), "...); make one for these: waymark export keys ",
                     use.shards.string()));
  }
  return ShardKeys(*std::move(bundle));
}

absl::StatusOr<std::string_view> ShardKeys::Find(uint64_t user) const {
  size_t place = 0;
  if (Knows(bundle_.users(), user, &place)) {
    return std::string_view(bundle_.keys()).substr(place * kFolderKeyBytes, kFolderKeyBytes);
  }
  if (Knows(bundle_.erased_users(), user, &place)) return std::string_view();
  return absl::FailedPreconditionError(
      absl::StrCat("is of user ", user, ", whom the key bundle does not know; ", kMakeAgain));
}

std::string ShardKeys::ErasedText() const {
  if (bundle_.erased_users_size() == 0) return "";
  std::string users;
  for (uint64_t user : bundle_.erased_users()) absl::StrAppend(&users, user, "\n");
  return absl::StrCat(bundle_.erased_users_size(), " sha256 ", Sha256Hex(users));
}

std::string ShardKeys::Sha256() const {
  std::string users;
  for (uint64_t user : bundle_.users()) absl::StrAppend(&users, user, "\n");
  return Sha256Hex(absl::StrCat(users, ErasedText(), "\n", Sha256Hex(bundle_.keys())));
}

int64_t ShardKeys::TakeErased(google::protobuf::RepeatedPtrField<storage::ExamplesIndex::File>* files) const {
  std::map<std::string_view, int64_t> erased_of;
  for (const auto& file : bundle_.files()) erased_of[file.name()] = file.erased();
  int64_t all = 0;
  for (auto& file : *files) {
    const auto found = erased_of.find(file.name());
    if (found == erased_of.end()) continue;
    const int64_t erased = std::clamp<int64_t>(found->second, 0, file.examples());
    file.set_erased(erased);
    file.set_examples(file.examples() - erased);
    all += erased;
  }
  return all;
}

}  // namespace waymark
