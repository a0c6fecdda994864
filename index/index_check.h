// Whether an index agrees with the store: its files with their checksums, and each document with the terms of
// its item.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "candidates/deadline.h"
#include "index/index_snapshot.h"
#include "index/indexed_fields.h"
#include "store/part_check.h"
#include "store/store.h"

namespace waymark {

// Every file of the last commit against the manifest, every compiled file against its own checksum. An index
// that was never committed has none that could differ.
void CheckIndexFiles(const std::filesystem::path& data, Scope scope, PartCheck* check);

// Compares every item of the store with its document on what `refresh` answers, a snapshot of now. What
// differs is looked at again on newer ones, since items may be written meanwhile. DEADLINE_EXCEEDED; else
// what `refresh` or the store said.
absl::Status CheckDocuments(const Store& store, Scope scope,
                            absl::FunctionRef<absl::StatusOr<std::shared_ptr<const IndexSnapshot>>()> refresh,
                            Deadline deadline, PartCheck* check);

// A number for what a document holds: the sum over its terms, fields and positions of a hash of the three.
// Two documents that differ in one of them have the same number by an accident of 2^-64.
using DocumentHash = uint64_t;
// [documents of the segment]
std::vector<DocumentHash> DocumentHashes(const CompiledSegment& segment);
DocumentHash HashOfItem(const FieldAnalyzers& analyzers, const IndexedFields& fields,
                        const google::protobuf::Struct& item);

}  // namespace waymark
