// LiveCollection::Check: what an open collection holds against the store, and putting right what differs.
#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "catalog/catalog_check.h"
#include "index/index_folder.h"
#include "pipeline/live_collection.h"
#include "recommend/checked_file.h"
#include "store/store_check.h"
#include "suggest/suggestion_checkpoint.h"

namespace waymark {
namespace {

PartCheck* PartOf(std::vector<PartCheck>* parts, std::string_view name) {
  for (PartCheck& part : *parts) {
    if (part.part == name) return &part;
  }
  parts->emplace_back().part = std::string(name);
  return &parts->back();
}

int64_t FolderBytes(const std::filesystem::path& folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // files come and go while we look
    const uint64_t size = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

// What was found, and that it was put right.
void MarkRepaired(const std::string& how, PartCheck* part) {
  for (PartFinding& finding : part->findings) {
    finding.repaired = true;
    finding.remedy = how;
  }
  // Those that were counted only are put right with the others.
  const int64_t more = part->findings_count - static_cast<int64_t>(part->findings.size());
  if (more > 0) absl::StrAppend(&part->findings.back().remedy, " (with ", more, " more)");
  part->findings_count -= more;
}

}  // namespace

absl::StatusOr<std::vector<PartCheck>> LiveCollection::Check(const DataCheckOptions& options,
                                                             Deadline deadline) {
  if (auto status = WaitForOffset(store_->End(), deadline); !status.ok()) return status;
  std::vector<PartCheck> parts = CheckFiles(store_->data_folder(), scope_);
  PartCheck* store = &*parts.insert(parts.begin(), PartCheck{.part = "store"});
  CheckStoreItems(*store_, scope_, store);
  store->position = store_->End();
  if (auto status = catalog_->Check(PartOf(&parts, "catalog")); !status.ok()) return status;
  if (auto status = index_->Check(deadline, PartOf(&parts, "index")); !status.ok()) return status;
  PartCheck* vectors = PartOf(&parts, "vectors");
  if (auto status = field_vectors_->Check(vectors); !status.ok()) return status;
  CheckItemVectors(vectors);
  PartOf(&parts, "behaviour")->position = behaviour_->position();
  if (suggestions_->started()) PartOf(&parts, "suggest")->position = suggestions_->status().position;
  CheckModels(PartOf(&parts, "models"));
  for (PartCheck& part : parts) {
    if (part.position > store_->End()) {
      part.Find(part.part,
                absl::StrCat("has come to log position ", part.position, "; the store's log ends at ",
                             store_->End()),
                kMadeAnew);
    }
    if (options.repair && !part.clean()) {
      if (auto status = Repair(&part); !status.ok()) return status;
    }
    for (const PartFinding& finding : part.findings) {
      spdlog::error("check_found collection={}/{} part={} where=\"{}\" what=\"{}\" repaired={}", name_.tenant,
                    name_.collection, part.part, finding.where, finding.what, finding.repaired);
    }
  }
  return parts;
}

void LiveCollection::CheckItemVectors(PartCheck* check) const {
  // Those that models made: which items have one. (Their numbers are the model's, not the store's.)
  for (const auto& retriever : loader_->Retrievers()) {
    const auto index = retriever->vectors->index();
    const auto width = static_cast<size_t>(index->width());
    size_t missing = 0, live = 0;
    std::vector<float> vector(width);
    for (ItemOrdinal item = 0; item < items_->End(); ++item) {
      if (!catalog_->Live(item)) continue;
      ++live;
      const ItemOrdinal one[] = {item};
      missing += index->ReadVectors(one, absl::MakeSpan(vector)) == 0;
    }
    check->items += static_cast<int64_t>(live);
    // An item that a model says nothing of has a vector of zeros, which is none.
    if (live > 0 && missing == live) {
      check->Find(retriever->vectors->folder().lexically_relative(store_->data_folder()).string(),
                  absl::StrCat("has no vector of any of the ", live, " items"), kMadeAnew);
    }
    if (index->size() + missing < live) {
      check->Find(retriever->vectors->folder().lexically_relative(store_->data_folder()).string(),
                  absl::StrCat("holds ", index->size(), " vectors of ", live, " items"), kMadeAnew);
    }
  }
}

void LiveCollection::CheckModels(PartCheck* check) const {
  for (const storage::ModelRecord& model : store_->Models(scope_)) {
    const auto wrong = registry_->Verify(model.kind(), model.version());
    ++check->files;
    const std::string where = absl::StrCat("models/", model.kind(), "/", model.version());
    constexpr char kRemedy[] =
        "models cannot be made from the store alone: import the package again, or train";
    if (!wrong.ok()) {
      check->Find(where, std::string(wrong.status().message()), kRemedy);
      continue;
    }
    for (const std::string& what : *wrong) check->Find(where, what, kRemedy);
  }
}

std::vector<PartSize> LiveCollection::PartSizes() const {
  const std::filesystem::path& data = store_->data_folder();
  std::vector<PartSize> parts;
  PartSize catalog{"catalog", 0, FolderBytes(CatalogFile(data, scope_).parent_path()),
                   catalog_->rebuild_reason()};
  const size_t fields_from = parts.size() + 1;
  parts.push_back(catalog);
  for (const auto& [field, bytes] : catalog_->MemoryBytes()) {
    parts.push_back({absl::StrCat("catalog/", field), static_cast<int64_t>(bytes), 0, ""});
    parts[fields_from - 1].memory_bytes += static_cast<int64_t>(bytes);
  }
  const KeywordIndexStatus index = index_->status();
  parts.push_back({"index", index.bytes, FolderBytes(IndexFolder(data, scope_)), index.rebuild_reason});
  if (!index.recompile_reason.empty()) parts.push_back({"index/postings", 0, 0, index.recompile_reason});
  for (const FieldVectors::FieldStatus& field : field_vectors_->status()) {
    parts.push_back({absl::StrCat("vectors/", field.field), static_cast<int64_t>(field.memory_bytes),
                     FolderBytes(field.folder), field.rebuild_reason});
  }
  for (const auto& retriever : loader_->Retrievers()) {
    parts.push_back({absl::StrCat("vectors of retriever ", retriever->retriever->version()),
                     static_cast<int64_t>(retriever->vectors->index()->memory_bytes()),
                     FolderBytes(retriever->vectors->folder()), retriever->vectors->rebuild_reason()});
  }
  parts.push_back({"behaviour", 0,
                   FolderBytes(data / "recommend" / absl::StrCat(scope_.tenant, "-", scope_.collection)),
                   behaviour_->rebuild_reason()});
  const SuggestionStatus suggestions = suggestions_->status();
  parts.push_back(
      {"suggest", suggestions.bytes, FolderBytes(SuggestFolder(data, scope_)), suggestions.rebuild_reason});
  return parts;
}

absl::Status LiveCollection::Repair(PartCheck* part) {
  constexpr char kReason[] = "a check found that it differs from the store";
  const std::filesystem::path& data = store_->data_folder();
  absl::Status status;
  std::string how;
  if (part->part == "catalog") {
    status = catalog_->Rebuild();
    how = "all columns were made anew from the store";
  } else if (part->part == "index") {
    status = index_->Rebuild(kReason);
    how = "set aside, and made anew from the store";
  } else if (part->part == "vectors") {
    status = field_vectors_->Rebuild(kReason);
    for (const auto& retriever : loader_->Retrievers()) {
      SetAsideDamaged(retriever->vectors->folder());
      if (status.ok()) status = retriever->vectors->Rebuild();
    }
    how = "set aside, and made anew from the store";
  } else if (part->part == "behaviour" || part->part == "suggest") {
    // What is in memory was made from what could be read, and from the log: it is written anew.
    for (const PartFinding& finding : part->findings) SetAsideDamaged(data / finding.where);
    status = part->part == "behaviour" ? behaviour_->Checkpoint() : suggestions_->Checkpoint();
    how = "set aside, and written anew";
  } else {
    return absl::OkStatus();  // the store and models have nothing to be made from
  }
  if (!status.ok()) return status;
  MarkRepaired(how, part);
  spdlog::warn("check_repaired collection={}/{} part={} how=\"{}\"", name_.tenant, name_.collection,
               part->part, how);
  return absl::OkStatus();
}

}  // namespace waymark
