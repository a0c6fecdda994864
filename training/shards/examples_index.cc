#include "training/shards/examples_index.h"

#include <google/protobuf/util/json_util.h>

#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "store/package/model_package.h"
#include "store/package/package_files.h"
#include "training/shards/history_example.h"
#include "training/shards/record_seal.h"

namespace waymark {
namespace {

constexpr char kIndexName[] = "index.json";
constexpr uint64_t kMaxIndexBytes = uint64_t{64} << 20;

absl::StatusOr<std::string> PrintJsonMessage(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  if (!status.ok()) return absl::InternalError(absl::StrCat("cannot print as JSON: ", status.ToString()));
  return text;
}

std::filesystem::path SumOf(const std::filesystem::path& file) { return file.string() + ".sha256"; }
// As sha256sum writes and checks it.
std::string SumLine(const std::filesystem::path& file, std::string_view text) {
  return absl::StrCat(Sha256Hex(text), "  ", file.filename().string(), "\n");
}

// Atomic and synced.
absl::Status Replace(const std::filesystem::path& file, std::string_view text) {
  const std::filesystem::path fresh = file.string() + ".new";
  absl::Status status = WriteSyncedFile(fresh, {&text, 1});
  if (!status.ok()) return status;
  std::error_code error;
  std::filesystem::rename(fresh, file, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat("cannot rename ", fresh.string(), ": ", error.message()));
  }
  return SyncFolder(file.parent_path());
}

absl::Status Parse(const std::filesystem::path& file, const std::string& text,
                   google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // a newer format is named by its number
  const auto status = google::protobuf::util::JsonStringToMessage(text, message, options);
  if (status.ok()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(file.string(), " is damaged: ", status.ToString()));
}

}  // namespace

absl::Status WriteJsonMessage(const std::filesystem::path& file, const google::protobuf::Message& message) {
  auto text = PrintJsonMessage(message);
  if (!text.ok()) return text.status();
  return Replace(file, *text);
}

absl::Status ReadJsonMessage(const std::filesystem::path& file, google::protobuf::Message* message) {
  auto text = ReadWholeFile(file, kMaxIndexBytes);
  if (!text.ok()) return text.status();
  return Parse(file, *text, message);
}

absl::Status WriteSummedMessage(const std::filesystem::path& file, const google::protobuf::Message& message) {
  auto text = PrintJsonMessage(message);
  if (!text.ok()) return text.status();
  if (absl::Status status = Replace(SumOf(file), SumLine(file, *text)); !status.ok()) return status;
  return Replace(file, *text);
}

absl::Status ReadSummedMessage(const std::filesystem::path& file, google::protobuf::Message* message) {
  auto text = ReadWholeFile(file, kMaxIndexBytes);
  if (!text.ok()) return text.status();
  auto sum = ReadWholeFile(SumOf(file), kMaxIndexBytes);
  if (!sum.ok()) return sum.status();
  if (*sum != SumLine(file, *text)) {
    return absl::DataLossError(absl::StrCat(file.string(), " and ", SumOf(file).filename().string(),
                                            " do not match: one of them is damaged"));
  }
  return Parse(file, *text, message);
}

absl::Status CheckIndexFormat(const std::filesystem::path& file, int format, bool sealed,
                              const storage::Sealing& sealing) {
  if (format != kPlainFormat && format != kSealedFormat) {
    return absl::FailedPreconditionError(absl::StrCat(file.string(), " has format ", format,
                                                      "; this program reads ", kPlainFormat, " and ",
                                                      kSealedFormat));
  }
  if (sealed != (format == kSealedFormat)) {
    return absl::DataLossError(absl::StrCat(file.string(), " has format ", format, " and ",
                                            sealed ? "a" : "no", " seal: it is damaged; export again"));
  }
  if (sealed && sealing.method() != kSealMethod) {
    return absl::FailedPreconditionError(absl::StrCat(file.string(), " is sealed by '", sealing.method(),
                                                      "'; this program opens ", kSealMethod));
  }
  return absl::OkStatus();
}

absl::Status WriteExamplesIndex(const std::filesystem::path& folder, const storage::ExamplesIndex& index) {
  storage::ExamplesIndex out = index;
  out.set_format(index.has_sealing() ? kSealedFormat : kPlainFormat);
  return WriteSummedMessage(folder / kIndexName, out);
}

absl::StatusOr<storage::ExamplesIndex> ReadExamplesIndex(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kIndexName;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return absl::NotFoundError(absl::StrCat(
        folder.string(),
        std::filesystem::exists(folder / "export.json", error)
            ? " holds an export that was stopped; the same `waymark export examples` goes on with it"
            : " holds no training shards (there is no index.json); `waymark export examples` writes some"));
  }
  storage::ExamplesIndex index;
  if (absl::Status read = ReadSummedMessage(file, &index); !read.ok()) return read;
  if (absl::Status checked = CheckIndexFormat(file, index.format(), index.has_sealing(), index.sealing());
      !checked.ok()) {
    return checked;
  }
  if (index.kind() != kHistories) {
    return absl::FailedPreconditionError(absl::StrCat(file.string(), " is of the kind '", index.kind(),
                                                      "'; this program trains on '", kHistories, "'"));
  }
  if (index.features_sha256() != HistoryFeaturesSha256()) {
    return absl::FailedPreconditionError(absl::StrCat(
        file.string(), " has the features ", absl::StrJoin(index.features(), ", "),
        " in another definition than this program, which reads ", absl::StrJoin(HistoryFeatures(), ", "),
        "; export again, or use the program of that export"));
  }
  if (index.examples() <= 0 || index.targets() <= 0 || index.item_count() <= 0 || index.files_size() == 0) {
    return absl::DataLossError(
        absl::StrCat(file.string(), " has ", index.files_size(), " files, ", index.examples(), " examples, ",
                     index.targets(), " targets and ", index.item_count(),
                     " items; there is nothing to train on without one of each: export again"));
  }
  return index;
}

std::string ExamplesFingerprint(const storage::ExamplesIndex& index) {
  storage::ExamplesIndex plain = index;
  plain.clear_create_time();
  std::string text;
  for (const auto& file : plain.files()) absl::StrAppend(&text, file.name(), " ", file.sha256(), "\n");
  absl::StrAppend(&text, plain.items().sha256(), " ", plain.features_sha256(), " ", plain.held_out());
  return Sha256Hex(text);
}

}  // namespace waymark
