#include "training/federated/rounds/coordinator_state.h"

#include <google/protobuf/util/json_util.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "store/package/model_package.h"
#include "store/package/package_files.h"
#include "store/package/safetensors.h"

namespace waymark {
namespace {

constexpr char kStateFile[] = "state.json";
constexpr uint64_t kLargestState = 1 << 20;

google::protobuf::util::JsonPrintOptions OneLine(bool whitespace) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = whitespace;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  return options;
}

absl::Status StateDamaged(const std::filesystem::path& file, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(file.string(), " is damaged (", std::string(what),
                                          "); give another --state folder to start a federation anew"));
}

TensorData Row(const std::vector<float>& values) {
  return TensorData::F32({static_cast<int64_t>(values.size())}, values);
}

std::vector<float> Take(const TensorMap& tensors, const char* name) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || found->second.type != TensorData::Type::kF32) return {};
  const auto values = found->second.floats();
  return {values.begin(), values.end()};
}

}  // namespace

absl::StatusOr<std::optional<KeptState>> LoadCoordinatorState(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kStateFile;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::optional<KeptState>();
  auto text = ReadWholeFile(file, kLargestState);
  if (!text.ok()) return text.status();
  KeptState kept;
  const auto parsed = google::protobuf::util::JsonStringToMessage(*text, &kept.state);
  if (!parsed.ok()) return StateDamaged(file, std::string(parsed.message().data(), parsed.message().size()));
  if (kept.state.format() != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat(file.string(), " has format ", kept.state.format(), "; this program reads format 1"));
  }
  const std::filesystem::path model = folder / kept.state.model_file();
  auto hash = Sha256HexOfFile(model);
  if (!hash.ok()) return StateDamaged(model, hash.status().message());
  if (*hash != kept.state.model_sha256()) return StateDamaged(model, "it is not what state.json names");
  auto tensors = ReadSafetensors(model);
  if (!tensors.ok()) return StateDamaged(model, tensors.status().message());
  kept.model = Take(*tensors, "model");
  kept.moments = {Take(*tensors, "first"), Take(*tensors, "second")};
  return std::optional<KeptState>(std::move(kept));
}

absl::Status SaveCoordinatorState(const std::filesystem::path& folder, KeptState* kept) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string before = kept->state.model_file();
  const std::string name = absl::StrCat("model-", kept->state.finished_rounds(), ".safetensors");
  TensorMap tensors{{"model", Row(kept->model)}};
  if (!kept->moments.first.empty()) {
    tensors["first"] = Row(kept->moments.first);
    tensors["second"] = Row(kept->moments.second);
  }
  if (auto status = WriteSafetensors(folder / name, tensors); !status.ok()) return status;
  auto hash = Sha256HexOfFile(folder / name);
  if (!hash.ok()) return hash.status();
  kept->state.set_format(1);
  kept->state.set_model_file(name);
  kept->state.set_model_sha256(*hash);
  std::string text;
  const auto printed = google::protobuf::util::MessageToJsonString(kept->state, &text, OneLine(true));
  if (!printed.ok()) return absl::InternalError("the state cannot be printed as JSON");
  const std::filesystem::path fresh = folder / "state.json.new";
  const std::string_view part = text;
  if (auto status = WriteSyncedFile(fresh, {&part, 1}); !status.ok()) return status;
  std::filesystem::rename(fresh, folder / kStateFile, error);
  if (error)
    return absl::UnavailableError(absl::StrCat("cannot write ", folder.string(), ": ", error.message()));
  if (auto status = SyncFolder(folder); !status.ok()) return status;
  if (!before.empty() && before != name) std::filesystem::remove(folder / before, error);
  return absl::OkStatus();
}

std::string ReportAsJson(const federated::RoundReport& report) {
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(report, &text, OneLine(false)).ok()) return "{}";
  return text;
}

absl::Status AppendReport(const std::filesystem::path& folder, const federated::RoundReport& report) {
  const std::filesystem::path file = folder / "rounds.jsonl";
  const std::string line = ReportAsJson(report);
  std::string last;
  {
    std::ifstream in(file);
    for (std::string each; std::getline(in, each);) last = each;
  }
  if (last == line) return absl::OkStatus();
  std::ofstream out(file, std::ios::app);
  out << line << "\n";
  out.flush();
  if (!out)
    return absl::UnavailableError(absl::StrCat("cannot write ", file.string(), ": ", std::strerror(errno)));
  return absl::OkStatus();
}

}  // namespace waymark
