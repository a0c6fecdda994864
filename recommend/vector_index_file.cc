// The index on disk: sealed segments under content names, and one manifest with everything else. The
// manifest is replaced in one step, so a crash leaves the old index or the new one.
#include <algorithm>
#include <filesystem>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "recommend/checked_file.h"
#include "recommend/vector_index_impl.h"

namespace waymark {
namespace {

constexpr char kIndexMagic[] = "WMVECIDX";
constexpr uint32_t kIndexVersion = 1;
constexpr char kManifest[] = "manifest";

void RemoveUnnamed(const std::filesystem::path& folder, const absl::flat_hash_set<std::string>& named) {
  std::error_code ignored;  // what cannot be removed now is removed by the next save
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, "segment-") && !named.contains(name))
      std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

absl::Status VectorIndex::Save(const std::filesystem::path& folder, const std::string& retriever_sha256,
                               LogOffset position) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder.string(), ": ", error.message()));
  const std::shared_ptr<const VectorSnapshot> snapshot = impl_->Current();
  const size_t width = static_cast<size_t>(impl_->options.width);

  absl::flat_hash_set<std::string> named;
  std::vector<std::string> names;
  for (const VectorSegmentView& view : snapshot->segments) {
    auto name = view.segment->Write(folder);
    if (!name.ok()) return name.status();
    named.insert(*name);
    names.push_back(*std::move(name));
  }
  auto writer = CheckedWriter::Create(folder / kManifest, kIndexMagic, kIndexVersion);
  if (!writer.ok()) return writer.status();
  (*writer)->PutText(retriever_sha256);
  (*writer)->Put<uint64_t>(position);
  (*writer)->Put<uint32_t>(static_cast<uint32_t>(width));
  (*writer)->Put<uint64_t>(snapshot->segments.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const VectorSegmentView& view = snapshot->segments[i];
    (*writer)->PutText(names[i]);
    (*writer)->PutArray<uint64_t>(view.dead == nullptr ? std::vector<uint64_t>() : view.dead->words());
  }
  std::vector<ItemOrdinal> items;
  std::vector<float> vectors;
  for (const BlockView& view : snapshot->tail) {
    for (size_t row = 0; row < view.rows; ++row) {
      if (view.dead != nullptr && view.dead->Get(row)) continue;
      items.push_back(view.block->item(row));
      vectors.insert(vectors.end(), view.block->vector(row), view.block->vector(row) + width);
    }
  }
  (*writer)->PutArray<ItemOrdinal>(items);
  (*writer)->PutArray<float>(vectors);
  if (absl::Status s = (*writer)->Commit(); !s.ok()) return s;
  RemoveUnnamed(folder, named);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<VectorIndex>> VectorIndex::Open(const std::filesystem::path& folder,
                                                               const std::string& retriever_sha256,
                                                               const VectorIndexOptions& options) {
  auto created = Create(options);
  if (!created.ok()) return created.status();
  auto opened = CheckedReader::Open(folder / kManifest, kIndexMagic, kIndexVersion);
  if (!opened.ok()) return opened.status();
  CheckedReader& reader = **opened;
  Impl& impl = *(*created)->impl_;

  std::string written_with;
  uint32_t width = 0;
  uint64_t segments = 0;
  if (absl::Status s = reader.GetText(&written_with); !s.ok()) return s;
  if (absl::Status s = reader.Get(&impl.saved_position); !s.ok()) return s;
  if (absl::Status s = reader.Get(&width); !s.ok()) return s;
  if (absl::Status s = reader.Get(&segments); !s.ok()) return s;
  if (written_with != retriever_sha256)
    return absl::FailedPreconditionError(absl::StrCat("the vectors in ", folder.string(),
                                                      " are of retriever ", written_with, ", not of ",
                                                      retriever_sha256));
  if (width != static_cast<uint32_t>(options.width))
    return absl::FailedPreconditionError(
        absl::StrCat("the vectors in ", folder.string(), " have width ", width, ", not ", options.width));
  if (segments > reader.remaining() / 16) return reader.Damaged("names more segments than it has bytes");

  auto snapshot = std::make_shared<VectorSnapshot>();
  for (uint64_t i = 0; i < segments; ++i) {
    std::string name;
    std::vector<uint64_t> words;
    if (absl::Status s = reader.GetText(&name); !s.ok()) return s;
    if (absl::Status s = reader.GetArray(&words); !s.ok()) return s;
    if (name != std::filesystem::path(name).filename()) return reader.Damaged("names a segment elsewhere");
    auto segment = VectorSegment::Read(folder, name, impl.SegmentOptions());
    // A segment that the manifest names and that is not there is damage, where no manifest would be no index.
    if (absl::IsNotFound(segment.status())) return absl::DataLossError(segment.status().message());
    if (!segment.ok()) return segment.status();
    VectorSegmentView view{*std::move(segment), nullptr, 0};
    if (!words.empty()) {
      auto dead = std::make_shared<RowBits>(view.segment->rows());
      if (words.size() != dead->words().size()) return reader.Damaged("holds deletions of another segment");
      *dead->mutable_words() = std::move(words);
      for (size_t row = 0; row < view.segment->rows(); ++row) view.dead_rows += dead->Get(row);
      view.dead = std::move(dead);
    }
    snapshot->live += view.segment->rows() - view.dead_rows;
    snapshot->segments.push_back(std::move(view));
  }
  std::vector<ItemOrdinal> items;
  std::vector<float> vectors;
  if (absl::Status s = reader.GetArray(&items); !s.ok()) return s;
  if (absl::Status s = reader.GetArray(&vectors); !s.ok()) return s;
  impl.Publish(std::move(snapshot));
  if (absl::Status s = (*created)->Add(items, vectors); !s.ok()) return s;
  return created;
}

absl::Status VectorIndex::Verify(const std::filesystem::path& folder) {
  std::string written_with;
  VectorIndexOptions options;
  {
    auto reader = CheckedReader::Open(folder / kManifest, kIndexMagic, kIndexVersion);
    if (!reader.ok()) return reader.status();
    uint64_t position = 0;
    uint32_t width = 0;
    if (absl::Status s = (*reader)->GetText(&written_with); !s.ok()) return s;
    if (absl::Status s = (*reader)->Get(&position); !s.ok()) return s;
    if (absl::Status s = (*reader)->Get(&width); !s.ok()) return s;
    options.width = static_cast<int>(std::min<uint32_t>(width, 1 << 20));
  }
  return Open(folder, written_with, options).status();
}

LogOffset VectorIndex::saved_position() const { return impl_->saved_position; }

}  // namespace waymark
