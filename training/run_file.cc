#include "training/run_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace waymark {

absl::StatusOr<std::optional<RunFile>> ReadRunFile(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "run.json";
  std::ifstream in(file);
  if (!in) return std::optional<RunFile>();
  try {
    const auto json = nlohmann::json::parse(in);
    RunFile run;
    json.at("what").get_to(run.what);
    json.at("version").get_to(run.version);
    json.at("seed").get_to(run.seed);
    json.at("log_epoch").get_to(run.log_epoch);
    json.at("up_to").get_to(run.up_to);
    json.at("ranker_share").get_to(run.ranker_share);
    json.at("validation_share").get_to(run.validation_share);
    json.at("max_lists").get_to(run.max_lists);
    json.at("serving_retriever_sha256").get_to(run.serving_retriever_sha256);
    run.arms = json.value("arms", "");
    return std::optional<RunFile>(run);
  } catch (const nlohmann::json::exception& e) {
    return absl::DataLossError(absl::StrCat(file.string(), " is damaged (", e.what(),
                                            "); remove its folder to train from the start"));
  }
}

absl::Status WriteRunFile(const std::filesystem::path& folder, const RunFile& run) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path file = folder / "run.json", part = folder / "run.json.part";
  const nlohmann::json json = {{"what", run.what},
                               {"version", run.version},
                               {"seed", run.seed},
                               {"log_epoch", run.log_epoch},
                               {"up_to", run.up_to},
                               {"ranker_share", run.ranker_share},
                               {"validation_share", run.validation_share},
                               {"max_lists", run.max_lists},
                               {"serving_retriever_sha256", run.serving_retriever_sha256},
                               {"arms", run.arms}};
  {
    std::ofstream out(part, std::ios::trunc);
    out << json.dump(2) << "\n";
    out.flush();
    if (!out)
      return absl::UnavailableError(absl::StrCat("cannot write ", part.string(), ": ", std::strerror(errno)));
  }
  std::filesystem::rename(part, file, error);
  if (error)
    return absl::UnavailableError(absl::StrCat("cannot write ", file.string(), ": ", error.message()));
  return absl::OkStatus();
}

void RemoveRunFile(const std::filesystem::path& folder) {
  std::error_code error;  // one that stays is named by the next run
  std::filesystem::remove(folder / "run.json", error);
  std::filesystem::remove(folder, error);  // when it is empty
}

}  // namespace waymark
