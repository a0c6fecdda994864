// Whether the catalogue's checkpoint can be read. (Whether its columns say what the store says:
// Catalog::Check.)
#pragma once
#include <filesystem>

#include "store/ids.h"
#include "store/part_check.h"

namespace waymark {

std::filesystem::path CatalogFile(const std::filesystem::path& data, Scope scope);

// Every block against its checksum. A checkpoint that is not there is none that could differ.
void CheckCatalogFile(const std::filesystem::path& data, Scope scope, PartCheck* check);

}  // namespace waymark
