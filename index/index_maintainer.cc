#include "index/index_maintainer.h"

#include <spdlog/spdlog.h>

#include <system_error>

#include "absl/strings/str_cat.h"
#include "index/compiled_file.h"
#include "index/index_folder.h"

namespace waymark {
namespace {

// During long work, what has come in becomes searchable every so many documents; of a bulk load, whose
// segments join the index then.
constexpr size_t kDocumentsPerSnapshot = 100'000, kDocumentsPerBulk = 400'000;

std::string Text(const absl::Status& status) { return std::string(status.message()); }

}  // namespace

IndexMaintainer::IndexMaintainer(const Store* store, Scope scope, std::filesystem::path folder,
                                 const Bm25Options& bm25, Publish publish, const BulkOptions& bulk)
    : store_(store),
      scope_(scope),
      folder_(std::move(folder)),
      bm25_(bm25),
      publish_(std::move(publish)),
      bulk_options_(bulk) {}

IndexMaintainer::~IndexMaintainer() = default;

absl::Status IndexMaintainer::Open() {
  std::error_code error;
  std::filesystem::create_directories(folder_.parent_path(), error);
  if (error) {
    return absl::InternalError(
        absl::StrCat("cannot make ", folder_.parent_path().string(), ": ", error.message()));
  }
  if (absl::Status status = TidyIndexFolder(folder_); !status.ok()) return status;
  return Reopen({});
}

absl::Status IndexMaintainer::Reopen(const std::vector<LiveSegment>& compiled) {
  lucene_.reset();
  absl::StatusOr<IndexManifest> manifest = ReadManifest(folder_);
  if (absl::IsNotFound(manifest.status())) return StartAfresh();  // nothing was ever committed
  absl::Status status = manifest.status();
  if (status.ok()) status = UseManifest(*manifest, compiled);
  if (status.ok()) return status;

  lucene_.reset();
  rebuild_reason_ = Text(status);
  absl::StatusOr<std::filesystem::path> aside = SetAside(folder_);
  if (!aside.ok()) return aside.status();
  spdlog::error("keyword index {}: {}; set aside as {}, rebuilding from the store", folder_.string(),
                rebuild_reason_, aside->string());
  return StartAfresh();
}

absl::Status IndexMaintainer::UseManifest(const IndexManifest& manifest,
                                          const std::vector<LiveSegment>& compiled) {
  if (manifest.epoch != store_->epoch() || manifest.position > store_->End()) {
    return absl::FailedPreconditionError(
        absl::StrCat("it stands at log position ", manifest.position, " of epoch ", manifest.epoch,
                     ", which the store (", store_->End(), " of epoch ", store_->epoch(), ") does not have"));
  }
  const auto analysis = AnalysisNamed(manifest.analysis);
  if (!analysis) {
    return absl::FailedPreconditionError(
        absl::StrCat("its text was analysed as '", manifest.analysis, "', which this program does not do"));
  }
  auto lucene = LuceneSegments::Open(folder_, manifest.segments_file);
  if (!lucene.ok()) return lucene.status();
  auto segments =
      (*lucene)->Refresh(compiled.empty() ? LoadCompiled(folder_, manifest, &recompile_reason_) : compiled);
  if (!segments.ok()) return segments.status();

  lucene_ = *std::move(lucene);
  segments_ = *std::move(segments);
  KeepCompiledFiles(manifest);
  files_ = manifest.files;
  analysis_ = *analysis;
  fields_ = manifest.fields;
  analyzers_ = FieldAnalyzers(analysis_, fields_);
  bulk_analysis_ = nullptr;
  position_ = manifest.position;
  filled_ = true;
  uncommitted_ = false;
  unpublished_ = 0;
  publish_wanted_ = true;
  indexed_.clear();
  documents_ = 0;
  for (const LiveSegment& segment : segments_) {
    for (DocNumber doc = 0; doc < segment.postings->doc_count(); ++doc) {
      if (segment.live->Contains(doc)) SetDocument(segment.postings->ordinal(doc), true);
    }
  }
  return PublishSnapshot();
}

void IndexMaintainer::KeepCompiledFiles(const IndexManifest& manifest) {
  absl::Status status = KeepCompiled(folder_, manifest, segments_);
  if (status.ok()) return;
  spdlog::warn("keyword index {}: {} (the next start compiles its segments again)", folder_.string(),
               Text(status));
}

absl::Status IndexMaintainer::StartAfresh() {
  lucene_.reset();
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  if (error)
    return absl::InternalError(absl::StrCat("cannot empty ", folder_.string(), ": ", error.message()));
  auto lucene = LuceneSegments::Create(folder_);
  if (!lucene.ok()) return lucene.status();
  lucene_ = *std::move(lucene);
  segments_.clear();
  files_.clear();
  indexed_.clear();
  documents_ = 0;
  position_ = 0;
  filled_ = false;
  uncommitted_ = true;
  unpublished_ = 0;
  publish_wanted_ = true;
  return PublishSnapshot();
}

absl::Status IndexMaintainer::Advance(const std::atomic<bool>& stop) {
  absl::Status status = AdvanceUnguarded(stop);
  AbandonBulk();  // only after an error there is one
  // What Lucene++ holds after an error is not to be trusted; a schema that cannot be served is not its fault.
  if (!status.ok() && !absl::IsInvalidArgument(status)) lucene_.reset();
  return status;
}

absl::Status IndexMaintainer::AdvanceUnguarded(const std::atomic<bool>& stop) {
  if (!lucene_) {
    if (absl::Status status = Reopen({}); !status.ok()) return status;
  }
  const LogOffset end = store_->End();
  while (!stop) {
    absl::StatusOr<bool> serves = FollowSchema();
    if (serves.ok() && *serves && !filled_) serves = FillFromStore(stop);
    if (serves.ok() && *serves && filled_ && position_ < end) {
      if (absl::Status status = BeginBulk(static_cast<int64_t>(end - position_)); !status.ok()) return status;
      serves = ReadLog();
    }
    if (!serves.ok()) return serves.status();
    if (!*serves) {
      AbandonBulk();
      absl::Status status =
          Rebuild("the schema's searchable fields or its text analysis changed", OldIndex::kRemove, stop);
      if (!status.ok()) return status;
      continue;
    }
    if (filled_ && position_ >= end) break;
    if (unpublished_ >= (bulk_ ? kDocumentsPerBulk : kDocumentsPerSnapshot)) {
      if (absl::Status status = EndBulk(); !status.ok()) return status;
      if (absl::Status status = PublishSnapshot(); !status.ok()) return status;
    }
  }
  if (absl::Status status = EndBulk(); !status.ok()) return status;
  return lucene_ ? PublishSnapshot() : absl::OkStatus();
}

absl::Status IndexMaintainer::RebuildAside(const std::string& reason, const std::atomic<bool>& stop) {
  absl::Status status = Rebuild(reason, OldIndex::kSetAside, stop);
  if (!status.ok()) lucene_.reset();
  return status;
}

absl::Status IndexMaintainer::Rebuild(const std::string& reason, OldIndex old,
                                      const std::atomic<bool>& stop) {
  rebuild_reason_ = reason;
  spdlog::info("keyword index {}: {}; rebuilding beside it", folder_.string(), reason);
  IndexMaintainer builder(
      store_, scope_, BuildingFolder(folder_), bm25_, [](auto) {}, bulk_options_);
  builder.Use(catalog_);
  absl::StatusOr<bool> filled = false;
  while (!*filled) {
    if (absl::Status status = builder.StartAfresh(); !status.ok()) return status;
    filled = builder.FollowSchema();  // takes on the schema: nothing is indexed yet
    if (filled.ok()) filled = builder.FillFromStore(stop);
    if (!filled.ok()) return filled.status();
    if (stop) return absl::OkStatus();
  }
  if (absl::Status status = builder.PublishSnapshot(); !status.ok()) return status;
  if (absl::Status status = builder.Commit(); !status.ok()) return status;
  // The same segments under the same names, so what is compiled stays good.
  const std::vector<LiveSegment> compiled = std::move(builder.segments_);
  builder.lucene_.reset();
  lucene_.reset();
  if (old == OldIndex::kSetAside && std::filesystem::exists(folder_)) {
    const auto aside = SetAside(folder_);
    if (!aside.ok()) return aside.status();
    spdlog::warn("keyword index {}: set aside as {}", folder_.string(), aside->string());
  }
  if (absl::Status status = SwapInBuilding(folder_); !status.ok()) return status;
  return Reopen(compiled);
}

absl::Status IndexMaintainer::PublishSnapshot() {
  if (unpublished_ > 0) {
    auto segments = lucene_->Refresh(segments_);
    if (!segments.ok()) return segments.status();
    segments_ = *std::move(segments);
    unpublished_ = 0;
    publish_wanted_ = true;
  }
  if (published_ && !publish_wanted_ && published_->position == position_) return absl::OkStatus();
  // After a restart from an older commit, searches keep what they have until it has been reached again.
  if (published_ && position_ < published_->position) return absl::OkStatus();
  publish_wanted_ = false;
  published_ = MakeSnapshot(analysis_, fields_, segments_, bm25_, position_, published_.get());
  publish_(published_);
  return absl::OkStatus();
}

absl::Status IndexMaintainer::Commit() {
  if (!lucene_ || !has_uncommitted()) return absl::OkStatus();
  const auto commit = [&]() -> absl::Status {
    auto made = lucene_->Commit({{"position", absl::StrCat(position_)}});
    if (!made.ok()) return made.status();
    auto files = SealFiles(folder_, made->files, files_);
    if (!files.ok()) return files.status();
    IndexManifest manifest{made->segments_file,     store_->epoch(), position_,
                           AnalysisName(analysis_), fields_,         *std::move(files)};
    if (absl::Status status = WriteManifest(folder_, manifest); !status.ok()) return status;
    KeepCompiledFiles(manifest);
    files_ = std::move(manifest.files);
    uncommitted_ = false;
    return absl::OkStatus();
  };
  absl::Status status = commit();
  if (!status.ok()) lucene_.reset();
  return status;
}

}  // namespace waymark
