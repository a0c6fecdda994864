#include "index/index_check.h"

#include <xxhash.h>

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "index/compiled_file.h"
#include "index/index_folder.h"
#include "index/index_manifest.h"
#include "index/item_terms.h"
#include "index/posting_cursor.h"

namespace waymark {
namespace {

// Files go while they are looked at when a commit comes between: then they are looked at again.
constexpr int kFileLooks = 4;

uint64_t FieldHash(std::string_view field) { return XXH3_64bits(field.data(), field.size()); }
uint64_t TermHash(std::string_view term, uint64_t field) {
  return XXH3_64bits_withSeed(term.data(), term.size(), field);
}
// The finalizer of splitmix64 (Steele, Lea, Flood: OOPSLA 2014).
uint64_t AtPosition(uint64_t term, uint32_t position) {
  uint64_t x = term + (uint64_t{position} + 1) * 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

PartCheck LookAtFiles(const std::filesystem::path& data, const std::filesystem::path& folder) {
  PartCheck check;
  const std::string shown = folder.lexically_relative(data).string();
  const auto manifest = ReadManifest(folder);
  if (absl::IsNotFound(manifest.status())) return check;
  if (!manifest.ok()) {
    check.Find(shown, std::string(manifest.status().message()), kMadeAnew);
    return check;
  }
  check.files = static_cast<int64_t>(manifest->files.size()) + 1;
  for (const IndexedFile& file : manifest->files) check.bytes += static_cast<int64_t>(file.size);
  check.position = manifest->position;
  for (const auto& [segment, name] : CompiledNames(*manifest)) {
    const auto compiled = ReadCompiled(folder / name);
    if (absl::IsNotFound(compiled.status())) continue;  // compiled at the next start
    ++check.files;
    std::error_code gone;
    const uint64_t size = std::filesystem::file_size(folder / name, gone);
    if (!gone) check.bytes += static_cast<int64_t>(size);
    if (!compiled.ok()) {
      check.Find(absl::StrCat(shown, "/", name), std::string(compiled.status().message()),
                 "the next start compiles it again from its segment");
    } else if ((*compiled)->name() != segment) {
      check.Find(absl::StrCat(shown, "/", name), absl::StrCat("is of segment ", (*compiled)->name()),
                 kMadeAnew);
    }
  }
  return check;
}

// Documents of one moment, held against items.
class DocumentComparison {
 public:
  DocumentComparison(const IndexSnapshot& snapshot, Deadline deadline) : snapshot_(snapshot) {
    for (const SegmentView& segment : snapshot.segments) {
      if (deadline.Expired()) return;
      const std::vector<DocumentHash> hashes = DocumentHashes(*segment.postings);
      for (DocNumber doc = 0; doc < hashes.size(); ++doc) {
        if (segment.live->Contains(doc)) documents_[segment.postings->ordinal(doc)] = hashes[doc];
      }
    }
  }
  // `record` null: the store does not have the item.
  bool Same(ItemOrdinal item, const storage::ItemRecord* record) const {
    const auto found = documents_.find(item);
    if (record == nullptr || found == documents_.end()) return record == nullptr && found == documents_.end();
    return found->second == HashOfItem(snapshot_.analyzers, snapshot_.fields, record->fields());
  }
  template <class Visit>
  void ForEachItem(const Visit& visit) const {
    for (const auto& [item, hash] : documents_) visit(item);
  }

 private:
  const IndexSnapshot& snapshot_;
  std::unordered_map<ItemOrdinal, DocumentHash> documents_;
};

constexpr int kDocumentLooks = 4;
// With the version of the item that differed; 0: the store does not have it.
using Suspects = std::map<ItemOrdinal, int64_t>;

absl::Status LateCheck() {
  return absl::DeadlineExceededError("the check of the keyword index takes longer");
}

absl::Status CompareAll(const Store& store, Scope scope, const DocumentComparison& comparison,
                        Deadline deadline, Suspects* different, int64_t* walked) {
  std::unordered_set<ItemOrdinal> seen;
  absl::Status status = store.ForEachItem(scope, 0, [&](ItemOrdinal item, const storage::ItemRecord& record) {
    ++*walked;
    seen.insert(item);
    if (!comparison.Same(item, &record)) different->emplace(item, record.version());
    return *walked % 1024 != 0 || !deadline.Expired();
  });
  if (!status.ok()) return status;
  if (deadline.Expired()) return LateCheck();
  comparison.ForEachItem([&](ItemOrdinal item) {
    if (!seen.contains(item)) different->emplace(item, 0);
  });
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDocuments(const Store& store, Scope scope,
                            absl::FunctionRef<absl::StatusOr<std::shared_ptr<const IndexSnapshot>>()> refresh,
                            Deadline deadline, PartCheck* check) {
  Suspects suspects;
  for (int look = 0; look < kDocumentLooks && (look == 0 || !suspects.empty()); ++look) {
    const auto snapshot = refresh();
    if (!snapshot.ok()) return snapshot.status();
    const DocumentComparison comparison(**snapshot, deadline);
    if (deadline.Expired()) return LateCheck();
    Suspects different;
    if (look == 0) {
      auto status = CompareAll(store, scope, comparison, deadline, &different, &check->items);
      if (!status.ok()) return status;
      check->position = (*snapshot)->position;
    }
    for (const auto& [item, version] : suspects) {
      const auto record = store.GetItem(scope, item);
      if (!record.ok() && !absl::IsNotFound(record.status())) return record.status();
      if (!comparison.Same(item, record.ok() ? &*record : nullptr)) {
        different.emplace(item, record.ok() ? record->version() : 0);
      }
    }
    if (look + 1 == kDocumentLooks) {
      for (const auto& [item, version] : different) {
        if (suspects.at(item) != version) continue;  // it is being written all the time
        check->Find(absl::StrCat("item '", store.ItemId(scope, item), "'"),
                    version == 0 ? "is searched here, and is not in the store"
                                 : "has other words here than in the store, or none",
                    kMadeAnew);
      }
    }
    suspects = std::move(different);
  }
  return absl::OkStatus();
}

void CheckIndexFiles(const std::filesystem::path& data, Scope scope, PartCheck* check) {
  PartCheck looked;
  for (int look = 0; look < kFileLooks; ++look) {
    looked = LookAtFiles(data, IndexFolder(data, scope));
    if (looked.clean()) break;
  }
  check->files += looked.files;
  check->bytes += looked.bytes;
  check->position = looked.position;
  for (PartFinding& finding : looked.findings) {
    check->Find(std::move(finding.where), std::move(finding.what), std::move(finding.remedy));
  }
}

std::vector<DocumentHash> DocumentHashes(const CompiledSegment& segment) {
  std::vector<DocumentHash> hashes(segment.doc_count(), 0);
  std::vector<uint64_t> fields;
  for (const std::string& field : segment.fields()) fields.push_back(FieldHash(field));
  std::vector<uint64_t> terms(fields.size());
  for (TermIndex term = 0; term < segment.term_count(); ++term) {
    const std::string_view text = segment.term(term);
    for (size_t field = 0; field < fields.size(); ++field) terms[field] = TermHash(text, fields[field]);
    PostingCursor cursor(segment, term);
    for (DocNumber doc = cursor.Advance(0); doc != kNoDoc; doc = cursor.Advance(doc + 1)) {
      const auto entries = cursor.entries();
      for (size_t e = 0; e < entries.size(); ++e) {
        const uint64_t hash = terms[cursor.entries()[e].field];
        for (const uint32_t position : cursor.Positions(e)) hashes[doc] += AtPosition(hash, position);
      }
    }
  }
  return hashes;
}

DocumentHash HashOfItem(const FieldAnalyzers& analyzers, const IndexedFields& fields,
                        const google::protobuf::Struct& item) {
  std::vector<FieldTerms> scratch;
  DocumentHash sum = 0;
  for (const FieldTerms& field : TermsOfItem(analyzers, fields, item, &scratch)) {
    const uint64_t name = FieldHash(field.field);
    for (size_t i = 0; i < field.terms.size(); ++i) {
      sum += AtPosition(TermHash(field.terms.term(i), name), field.terms.position(i));
    }
  }
  return sum;
}

}  // namespace waymark
