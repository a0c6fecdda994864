#include "index/lucene_segments.h"

#include <algorithm>
#include <unordered_map>

#include "index/lucene_names_impl.h"
#include "index/segment_compiler_impl.h"
#include "index/term_stream_impl.h"

namespace waymark {
namespace {

using Lucene::newLucene;
using Lucene::String;  // for LUCENE_CLASS
using lucene_impl::Guarded;
using lucene_impl::Utf8;
using lucene_impl::Wide;

// Of documents that are not in a segment yet. Bounded for each open collection.
constexpr double kBufferMegabytes = 64;

// Keeps the last commits: two, since the newest may be one whose manifest was never written; more while parts
// are adopted, which makes several without a manifest.
class KeepLastCommits : public Lucene::IndexDeletionPolicy {
 public:
  LUCENE_CLASS(KeepLastCommits);
  static constexpr int32_t kUsual = 2, kWhileAdopting = 8;

  void onInit(Lucene::Collection<Lucene::IndexCommitPtr> commits) override { onCommit(commits); }
  void onCommit(Lucene::Collection<Lucene::IndexCommitPtr> commits) override {
    for (int32_t i = 0; i + kept < commits.size(); ++i) commits[i]->deleteCommit();
  }

  int32_t kept = kUsual;
};
using KeepLastCommitsPtr = boost::shared_ptr<KeepLastCommits>;

// Whether what was compiled, perhaps in another process, serves the segment as it is now: it may hold
// documents that were deleted since, but must lack none that is not.
bool FitsReader(const CompiledSegment& compiled, const Lucene::IndexReaderPtr& segment) {
  if (static_cast<int64_t>(compiled.doc_count()) != segment->maxDoc()) return false;
  for (DocNumber doc = 0; doc < compiled.doc_count(); ++doc) {
    if (compiled.ordinal(doc) == kNoItem && !segment->isDeleted(static_cast<int32_t>(doc))) return false;
  }
  return true;
}

}  // namespace

struct LuceneSegments::Impl {
  std::filesystem::path folder;
  Lucene::DirectoryPtr directory;
  KeepLastCommitsPtr policy = newLucene<KeepLastCommits>();
  Lucene::IndexWriterPtr writer;
  // Field objects and their streams are used again for every document.
  struct TextField {
    boost::shared_ptr<lucene_impl::TermStream> stream;
    Lucene::FieldPtr field;
  };
  std::unordered_map<std::string, TextField> fields;
  Lucene::FieldPtr ordinal;

  // The process that has the store open is the only one here, so Lucene++ needs no lock; its lock file would
  // outlive a crash.
  explicit Impl(const std::filesystem::path& folder)
      : folder(folder),
        directory(
            Lucene::FSDirectory::open(Wide(folder.string()), Lucene::NoLockFactory::getNoLockFactory())) {}

  // On the newest commit, or on `commit`.
  void OpenWriter(const Lucene::IndexCommitPtr& commit = nullptr) {
    const auto analyzer = newLucene<Lucene::KeywordAnalyzer>();
    const int32_t kUnlimited = Lucene::IndexWriter::MaxFieldLengthUNLIMITED;
    writer = commit ? newLucene<Lucene::IndexWriter>(directory, analyzer, policy, kUnlimited, commit)
                    : newLucene<Lucene::IndexWriter>(directory, analyzer, false, policy, kUnlimited);
    Configure();
  }
  Lucene::SegmentInfosPtr Newest() const {
    Lucene::SegmentInfosPtr infos = newLucene<Lucene::SegmentInfos>();
    infos->read(directory);
    return infos;
  }

  void Configure() {
    // Lucene++'s ConcurrentMergeScheduler uses memory that is freed already.
    writer->setMergeScheduler(newLucene<Lucene::SerialMergeScheduler>());
    writer->setRAMBufferSizeMB(kBufferMegabytes);
    writer->setUseCompoundFile(false);
    ordinal = newLucene<Lucene::Field>(lucene_impl::kOrdinalField, L"", Lucene::AbstractField::STORE_NO,
                                       Lucene::AbstractField::INDEX_NOT_ANALYZED_NO_NORMS);
    ordinal->setOmitTermFreqAndPositions(true);
  }

  const TextField& FieldOf(const std::string& name) {
    TextField& entry = fields[name];
    if (!entry.field) {
      entry.stream = newLucene<lucene_impl::TermStream>();
      entry.field = newLucene<Lucene::Field>(lucene_impl::kTextFieldPrefix + Wide(name),
                                             Lucene::TokenStreamPtr(entry.stream));
      entry.field->setOmitNorms(true);  // lengths are kept exactly in the compiled form
    }
    return entry;
  }

  static Lucene::TermPtr OrdinalTerm(ItemOrdinal item) {
    return newLucene<Lucene::Term>(lucene_impl::kOrdinalField, lucene_impl::OrdinalText(item));
  }
};

LuceneSegments::LuceneSegments(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LuceneSegments::~LuceneSegments() {
  (void)Guarded("close the index", [&] {
    if (impl_->writer) impl_->writer->rollback();
    impl_->directory->close();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<LuceneSegments>> LuceneSegments::Create(const std::filesystem::path& folder) {
  using Result = absl::StatusOr<std::unique_ptr<LuceneSegments>>;
  return Guarded("create the index in " + folder.string(), [&]() -> Result {
    std::filesystem::create_directories(folder);
    auto impl = std::make_unique<Impl>(folder);
    Lucene::SegmentInfosPtr none = newLucene<Lucene::SegmentInfos>();
    none->commit(impl->directory);
    impl->OpenWriter();
    return std::unique_ptr<LuceneSegments>(new LuceneSegments(std::move(impl)));
  });
}

absl::StatusOr<std::unique_ptr<LuceneSegments>> LuceneSegments::Open(const std::filesystem::path& folder,
                                                                     const std::string& segments_file) {
  using Result = absl::StatusOr<std::unique_ptr<LuceneSegments>>;
  return Guarded("open the index in " + folder.string(), [&]() -> Result {
    auto impl = std::make_unique<Impl>(folder);
    Lucene::IndexCommitPtr wanted;
    Lucene::Collection<Lucene::IndexCommitPtr> commits = Lucene::IndexReader::listCommits(impl->directory);
    for (const Lucene::IndexCommitPtr& commit : commits) {
      if (commit->getSegmentsFileName() == Wide(segments_file)) wanted = commit;
    }
    if (!wanted) return absl::DataLossError("no commit '" + segments_file + "' in " + folder.string());
    impl->OpenWriter(wanted);
    return std::unique_ptr<LuceneSegments>(new LuceneSegments(std::move(impl)));
  });
}

absl::Status LuceneSegments::Put(ItemOrdinal item, absl::Span<const FieldTerms> fields, bool replaces) {
  return Guarded("index an item", [&] {
    Lucene::DocumentPtr document = newLucene<Lucene::Document>();
    impl_->ordinal->setValue(lucene_impl::OrdinalText(item));
    document->add(impl_->ordinal);
    for (const FieldTerms& field : fields) {
      const Impl::TextField& text = impl_->FieldOf(field.field);
      text.stream->Set(&field.terms);
      document->add(text.field);
    }
    if (replaces) {
      impl_->writer->updateDocument(Impl::OrdinalTerm(item), document);
    } else {
      impl_->writer->addDocument(document);
    }
    return absl::OkStatus();
  });
}

absl::Status LuceneSegments::Delete(ItemOrdinal item) {
  return Guarded("delete an item from the index", [&] {
    impl_->writer->deleteDocuments(Impl::OrdinalTerm(item));
    return absl::OkStatus();
  });
}

absl::Status LuceneSegments::Merge() {
  return Guarded("merge the index's segments", [&] {
    impl_->writer->optimize();
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<LiveSegment>> LuceneSegments::Refresh(const std::vector<LiveSegment>& previous) {
  using Result = absl::StatusOr<std::vector<LiveSegment>>;
  return Guarded("read the index's new segments", [&]() -> Result {
    Lucene::IndexReaderPtr reader = impl_->writer->getReader();
    std::vector<LiveSegment> segments;
    absl::Status status;
    Lucene::Collection<Lucene::IndexReaderPtr> readers = reader->getSequentialSubReaders();
    for (const Lucene::IndexReaderPtr& segment : readers) {
      const std::string name =
          Utf8(boost::dynamic_pointer_cast<Lucene::SegmentReader>(segment)->getSegmentName());
      auto old = std::find_if(previous.begin(), previous.end(),
                              [&](const LiveSegment& s) { return s.postings->name() == name; });
      LiveSegment live;
      if (old != previous.end() && (old->live || FitsReader(*old->postings, segment))) {
        live = *old;
      } else {
        auto compiled = lucene_impl::CompileSegment(segment, name);
        if (!compiled.ok()) {
          status = compiled.status();
          break;
        }
        live.postings = *std::move(compiled);
      }
      // Deletions only ever grow: the same number of documents is the same documents.
      if (!live.live || live.live->count() != static_cast<DocNumber>(segment->numDocs())) {
        live.live = std::make_shared<LiveDocuments>(
            live.postings, [&](DocNumber doc) { return segment->isDeleted(static_cast<int32_t>(doc)); });
      }
      segments.push_back(std::move(live));
    }
    reader->close();
    if (!status.ok()) return status;
    return segments;
  });
}

absl::StatusOr<LuceneCommit> LuceneSegments::Commit(const std::map<std::string, std::string>& user_data) {
  return Guarded("commit the index", [&]() -> absl::StatusOr<LuceneCommit> {
    Lucene::MapStringString data = Lucene::MapStringString::newInstance();
    for (const auto& [key, value] : user_data) data.put(Wide(key), Wide(value));
    impl_->writer->commit(data);
    impl_->policy->kept = KeepLastCommits::kUsual;  // from the next one on

    const Lucene::SegmentInfosPtr infos = impl_->Newest();
    LuceneCommit commit;
    commit.segments_file = Utf8(infos->getCurrentSegmentFileName());
    Lucene::HashSet<Lucene::String> files = infos->files(impl_->directory, true);
    for (const Lucene::String& file : files) commit.files.push_back(Utf8(file));
    std::sort(commit.files.begin(), commit.files.end());
    Lucene::MapStringString kept = infos->getUserData();
    for (auto entry = kept.begin(); entry != kept.end(); ++entry) {
      commit.user_data[Utf8(entry->first)] = Utf8(entry->second);
    }
    return commit;
  });
}

absl::StatusOr<int> LuceneSegments::BeginParts() {
  return Guarded("begin a bulk load", [&]() -> absl::StatusOr<int> {
    impl_->policy->kept = KeepLastCommits::kWhileAdopting;
    impl_->writer->commit();
    // Merges of its own may name some, too.
    return impl_->Newest()->counter + kSegmentNamesOfPart;
  });
}

absl::Status LuceneSegments::Adopt(absl::Span<const BulkSegment> segments) {
  return Guarded("take the segments of a bulk load into the index", [&] {
    impl_->writer->commit();
    impl_->writer->rollback();  // of nothing: closes it without merging
    const Lucene::SegmentInfosPtr all = impl_->Newest();
    for (const BulkSegment& segment : segments) {
      for (const std::string& file : segment.files) {
        std::filesystem::rename(segment.folder / file, impl_->folder / file);
      }
      const auto info = newLucene<Lucene::SegmentInfo>(
          Wide(segment.name), static_cast<int32_t>(segment.documents), impl_->directory,
          /*isCompoundFile=*/false, /*hasSingleNormFile=*/true, /*docStoreOffset=*/-1, Wide(segment.name),
          /*docStoreIsCompoundFile=*/false, segment.has_positions);
      Lucene::MapStringString source = Lucene::MapStringString::newInstance();
      source.put(L"source", L"bulk load");
      info->setDiagnostics(source);
      all->add(info);
      all->counter = std::max(all->counter, segment.number + 1);
    }
    all->commit(impl_->directory);
    impl_->OpenWriter();
    return absl::OkStatus();
  });
}

}  // namespace waymark
