#include "pipeline/data_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "catalog/catalog_check.h"
#include "index/index_check.h"
#include "recommend/checked_folder.h"
#include "suggest/suggestion_checkpoint.h"

namespace waymark {

bool CollectionCheck::clean() const {
  return std::all_of(parts.begin(), parts.end(), [](const PartCheck& part) { return part.clean(); });
}

std::vector<PartCheck> CheckFiles(const std::filesystem::path& data, Scope scope) {
  std::vector<PartCheck> parts(5);
  parts[0].part = "catalog";
  CheckCatalogFile(data, scope, &parts[0]);
  parts[1].part = "index";
  CheckIndexFiles(data, scope, &parts[1]);
  parts[2].part = "vectors";
  CheckVectorFiles(data, scope, &parts[2]);
  parts[3].part = "behaviour";
  CheckFolder(data, data / "recommend" / absl::StrCat(scope.tenant, "-", scope.collection), &parts[3]);
  parts[4].part = "suggest";
  CheckFolder(data, SuggestFolder(data, scope), &parts[4]);
  return parts;
}

int64_t FindingsOf(const std::vector<CollectionCheck>& checks) {
  int64_t findings = 0;
  for (const CollectionCheck& check : checks) {
    for (const PartCheck& part : check.parts) findings += part.findings_count;
  }
  return findings;
}

}  // namespace waymark
