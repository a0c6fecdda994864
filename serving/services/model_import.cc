// A model package arriving file by file (declared in model_service.h).
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "serving/services/collection_access.h"
#include "serving/services/model_service.h"
#include "serving/status_details.h"

namespace waymark {
namespace {

namespace fs = std::filesystem;

constexpr char kIncoming[] = "incoming";
constexpr size_t kMaxMessageBytes = size_t{2} << 20;
constexpr size_t kMaxFiles = 100;
constexpr int64_t kMaxPackageBytes = int64_t{16} << 30;
constexpr size_t kMaxFileNameBytes = 128;

absl::Status CheckFileName(const std::string& name) {
  bool plain = !name.empty() && name.size() <= kMaxFileNameBytes && name[0] != '.';
  for (const char c : name) {
    plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-');
  }
  if (plain) return absl::OkStatus();
  return InvalidField("file_name",
                      absl::StrCat("is '", name.substr(0, kMaxFileNameBytes),
                                   "'; it takes a plain name of [A-Za-z0-9._-] inside the package"));
}

// A folder of its own below DATA/incoming; removed with the object.
class IncomingFolder {
 public:
  explicit IncomingFolder(fs::path path) : path_(std::move(path)) {}
  IncomingFolder(const IncomingFolder&) = delete;
  ~IncomingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  static absl::StatusOr<std::unique_ptr<IncomingFolder>> Make(const fs::path& data) {
    std::error_code error;
    fs::create_directories(data / kIncoming, error);
    std::string pattern = (data / kIncoming / "package-XXXXXX").string();
    if (error || mkdtemp(pattern.data()) == nullptr) {
      return absl::UnavailableError(absl::StrCat("cannot make a folder below ", (data / kIncoming).string()));
    }
    return std::make_unique<IncomingFolder>(pattern);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class ModelImportSession : public ModelImport {
 public:
  explicit ModelImportSession(Engine* engine) : engine_(engine) {}

  absl::Status Take(const v1::ImportModelRequest& request, const CallContext& context) override {
    if (auto status = Open(request.parent()); !status.ok()) return status;
    if (request.data().size() > kMaxMessageBytes) {
      return InvalidField(
          "data", absl::StrCat("has ", request.data().size(), " bytes; a message takes ", kMaxMessageBytes));
    }
    if (seen_.empty() || request.file_name() != file_name_) {
      if (auto status = NextFile(request.file_name()); !status.ok()) return status;
    }
    bytes_ += static_cast<int64_t>(request.data().size());
    if (bytes_ > kMaxPackageBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("data: the package has over ", kMaxPackageBytes, " bytes"));
    }
    file_.write(request.data().data(), static_cast<std::streamsize>(request.data().size()));
    if (!file_) return WriteFailed();
    return context.Check();
  }

  absl::Status Finish(v1::Model* response, const CallContext&) override {
    if (collection_ == nullptr)
      return InvalidField("file_name", "no file came; the stream holds a package's files");
    file_.close();
    if (!file_) return WriteFailed();
    auto record = collection_->ImportModel(folder_->path());
    if (!record.ok()) return AsSent(record.status());
    ToMessage(*record, response);
    return absl::OkStatus();
  }

 private:
  // The sender knows the package's files, not where they were put here; and a message is one line.
  absl::Status AsSent(const absl::Status& status) const {
    const std::string folder = folder_->path().string();
    return absl::Status(status.code(),
                        absl::StrReplaceAll(std::string(status.message()),
                                            {{folder + "/", ""}, {folder, "the package"}, {"\n", " "}}));
  }

  absl::Status Open(const std::string& parent) {
    if (collection_ != nullptr) return absl::OkStatus();
    auto collection = OpenForWrite(engine_, parent);
    if (!collection.ok()) return collection.status();
    auto folder = IncomingFolder::Make(engine_->store().data_folder());
    if (!folder.ok()) return folder.status();
    folder_ = *std::move(folder);
    collection_ = *collection;
    return absl::OkStatus();
  }

  absl::Status NextFile(const std::string& name) {
    if (auto status = CheckFileName(name); !status.ok()) return status;
    if (!seen_.insert(name).second)
      return InvalidField("file_name", absl::StrCat("'", name, "' came before; send each file once, whole"));
    if (seen_.size() > kMaxFiles)
      return InvalidField("file_name",
                          absl::StrCat("is the file after ", kMaxFiles, "; a package has no more"));
    if (file_.is_open()) file_.close();
    if (!file_) return WriteFailed();
    file_.open(folder_->path() / name, std::ios::binary | std::ios::trunc);
    if (!file_) return WriteFailed();
    file_name_ = name;
    return absl::OkStatus();
  }

  absl::Status WriteFailed() const {
    return absl::ResourceExhaustedError(absl::StrCat("cannot write '", file_name_, "' below ",
                                                     folder_->path().string(), " (is the disk full?)"));
  }

  Engine* engine_;
  Collection* collection_ = nullptr;
  std::unique_ptr<IncomingFolder> folder_;
  std::string file_name_;
  std::ofstream file_;
  std::set<std::string> seen_;
  int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<ModelImport> MakeModelImport(Engine* engine) {
  return std::make_unique<ModelImportSession>(engine);
}

absl::Status RemoveIncomingModels(const fs::path& data) {
  std::error_code error;
  fs::remove_all(data / kIncoming, error);
  if (!error) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("cannot empty ", (data / kIncoming).string(), ": ", error.message()));
}

}  // namespace waymark
