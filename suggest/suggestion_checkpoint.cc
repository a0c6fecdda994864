#include "suggest/suggestion_checkpoint.h"

#include <system_error>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr char kListsMagic[] = "WMSUGGST", kQueriesMagic[] = "WMQUERYS";
constexpr uint32_t kVersion = 1;
constexpr uint32_t kMostFields = 10'000;

void PutNames(const std::vector<std::string>& names, CheckedWriter* writer) {
  writer->Put<uint32_t>(static_cast<uint32_t>(names.size()));
  for (const std::string& name : names) writer->PutText(name);
}

absl::Status GetNames(CheckedReader* reader, std::vector<std::string>* names) {
  uint32_t count = 0;
  if (absl::Status s = reader->Get(&count); !s.ok()) return s;
  if (count > kMostFields) return reader->Damaged("has more fields than there may be");
  for (uint32_t i = 0; i < count; ++i) {
    if (absl::Status s = reader->GetText(&names->emplace_back()); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status GetLists(CheckedReader* reader, const std::vector<std::string>& names,
                      std::vector<FieldList>* lists) {
  for (const std::string& name : names) {
    auto list = CompletionList::Load(reader);
    if (!list.ok()) return list.status();
    lists->push_back({name, *std::move(list)});
  }
  return absl::OkStatus();
}

}  // namespace

std::filesystem::path SuggestFolder(const std::filesystem::path& data, Scope scope) {
  return data / "suggest" / absl::StrCat(scope.tenant, "-", scope.collection);
}

absl::Status SaveLists(const std::filesystem::path& folder, const SuggestionLists& lists) {
  auto writer = CheckedWriter::Create(folder / kListsFile, kListsMagic, kVersion);
  if (!writer.ok()) return writer.status();
  (*writer)->Put<uint64_t>(lists.position);
  PutNames(lists.fields.titles, writer->get());
  PutNames(lists.fields.values, writer->get());
  for (const auto* kind : {&lists.titles, &lists.values}) {
    for (const FieldList& field : *kind) field.list->Save(writer->get());
  }
  return (*writer)->Commit();
}

absl::StatusOr<std::shared_ptr<const SuggestionLists>> LoadLists(const std::filesystem::path& folder) {
  auto reader = CheckedReader::Open(folder / kListsFile, kListsMagic, kVersion);
  if (!reader.ok()) return reader.status();
  auto lists = std::make_shared<SuggestionLists>();
  absl::Status status = (*reader)->Get(&lists->position);
  if (status.ok()) status = GetNames(reader->get(), &lists->fields.titles);
  if (status.ok()) status = GetNames(reader->get(), &lists->fields.values);
  if (status.ok()) status = GetLists(reader->get(), lists->fields.titles, &lists->titles);
  if (status.ok()) status = GetLists(reader->get(), lists->fields.values, &lists->values);
  if (!status.ok()) return status;
  return std::shared_ptr<const SuggestionLists>(std::move(lists));
}

absl::Status SaveQueries(const std::filesystem::path& folder, const PastQueries& queries,
                         QueriesReach reach) {
  auto writer = CheckedWriter::Create(folder / kQueriesFile, kQueriesMagic, PastQueries::kFileVersion);
  if (!writer.ok()) return writer.status();
  (*writer)->Put<uint64_t>(reach.position);
  (*writer)->Put<int64_t>(reach.served_us);
  queries.Save(writer->get());
  return (*writer)->Commit();
}

absl::StatusOr<QueriesReach> LoadQueries(const std::filesystem::path& folder, PastQueries* queries) {
  auto reader = CheckedReader::Open(folder / kQueriesFile, kQueriesMagic, PastQueries::kFileVersion);
  if (!reader.ok()) return reader.status();
  QueriesReach reach;
  absl::Status status = (*reader)->Get(&reach.position);
  if (status.ok()) status = (*reader)->Get(&reach.served_us);
  if (status.ok()) status = queries->Load(reader->get());
  if (!status.ok()) return status;
  return reach;
}

std::string SetAsideFile(const std::filesystem::path& folder, const std::string& name,
                         const absl::Status& error) {
  if (absl::IsNotFound(error)) return "";
  if (absl::IsDataLoss(error)) {
    std::error_code failed;
    std::filesystem::rename(folder / name, folder / (name + ".damaged"), failed);
    if (failed) return absl::StrCat(error.message(), " (and cannot be set aside: ", failed.message(), ")");
  }
  return std::string(error.message());
}

absl::Status RemoveSetAside(const std::filesystem::path& folder, const std::string& name) {
  std::error_code failed;
  const std::filesystem::path aside = folder / (name + ".damaged");
  std::filesystem::remove(aside, failed);
  if (!failed) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot remove ", aside.string(), ": ", failed.message()));
}

}  // namespace waymark
