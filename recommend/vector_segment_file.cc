// Sealed segments on disk: ordinals, vectors and the graph's links, checked before they are used (a link
// beyond the end would be read as a vector).
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "recommend/checked_file.h"
#include "recommend/vector_segment_impl.h"

namespace waymark {
namespace {

constexpr char kSegmentMagic[] = "WMVECSEG";
constexpr uint32_t kSegmentVersion = 1;

absl::Status CheckGraph(const faiss::HNSW& hnsw, size_t rows, const CheckedReader& reader) {
  const auto end = static_cast<int64_t>(rows);
  if (hnsw.levels.size() != rows || hnsw.offsets.size() != rows + 1 || hnsw.offsets.front() != 0 ||
      hnsw.offsets.back() != hnsw.neighbors.size())
    return reader.Damaged("holds a graph of another size than its vectors");
  if (hnsw.entry_point < 0 || hnsw.entry_point >= end)
    return reader.Damaged("holds a graph without an entry");
  if (hnsw.cum_nneighbor_per_level.empty() || hnsw.cum_nneighbor_per_level.front() != 0)
    return reader.Damaged("holds a graph without levels");
  const auto levels = static_cast<int64_t>(hnsw.cum_nneighbor_per_level.size());
  if (hnsw.levels[static_cast<size_t>(hnsw.entry_point)] != hnsw.max_level + 1)
    return reader.Damaged("holds a graph whose entry is not on its top level");
  for (size_t row = 0; row < rows; ++row) {
    const int level = hnsw.levels[row];
    if (level < 1 || level >= levels || level > hnsw.max_level + 1 ||
        hnsw.offsets[row + 1] - hnsw.offsets[row] !=
            static_cast<size_t>(hnsw.cum_nneighbor_per_level[static_cast<size_t>(level)]))
      return reader.Damaged("holds a graph with a level that does not exist");
    // A link on level l must lead to a row that has this level.
    for (int l = 0; l < level; ++l) {
      const size_t from = hnsw.offsets[row] + static_cast<size_t>(hnsw.cum_nneighbor_per_level[l]);
      const size_t to = hnsw.offsets[row] + static_cast<size_t>(hnsw.cum_nneighbor_per_level[l + 1]);
      for (size_t i = from; i < to; ++i) {
        const int link = hnsw.neighbors[i];
        if (link < -1 || link >= end || (link >= 0 && hnsw.levels[static_cast<size_t>(link)] <= l))
          return reader.Damaged("holds a graph with a link to nowhere");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> VectorSegment::Write(const std::filesystem::path& folder) const {
  const size_t floats = rows() * static_cast<size_t>(width_);
  // Graphs are a function of the vectors and the build's options; the row count tells flat from graph.
  XXH64_hash_t content = XXH3_64bits(ordinals_.data(), ordinals_.size() * sizeof(ItemOrdinal));
  content = XXH3_64bits_withSeed(faiss_->flat->get_xb(), floats * sizeof(float), content);
  if (has_graph()) {
    const auto& links = faiss_->graph->hnsw.neighbors;
    content = XXH3_64bits_withSeed(links.data(), links.size() * sizeof(links[0]), content);
  }
  const std::string name = absl::StrFormat("segment-%016x.vectors", content);
  const std::filesystem::path file = folder / name;
  if (std::filesystem::exists(file)) return name;

  auto writer = CheckedWriter::Create(file, kSegmentMagic, kSegmentVersion);
  if (!writer.ok()) return writer.status();
  (*writer)->Put<uint32_t>(static_cast<uint32_t>(width_));
  (*writer)->Put<uint8_t>(has_graph());
  (*writer)->PutArray<ItemOrdinal>(ordinals_);
  (*writer)->PutArray<float>(absl::MakeConstSpan(faiss_->flat->get_xb(), floats));
  if (has_graph()) {
    const faiss::HNSW& hnsw = faiss_->graph->hnsw;
    (*writer)->Put<int32_t>(hnsw.entry_point);
    (*writer)->Put<int32_t>(hnsw.max_level);
    (*writer)->Put<int32_t>(hnsw.efConstruction);
    (*writer)->PutArray<double>(hnsw.assign_probas);
    (*writer)->PutArray<int>(hnsw.cum_nneighbor_per_level);
    (*writer)->PutArray<int>(hnsw.levels);
    (*writer)->PutArray<size_t>(hnsw.offsets);
    (*writer)->PutArray<int>(hnsw.neighbors);
  }
  if (absl::Status s = (*writer)->Commit(); !s.ok()) return s;
  return name;
}

absl::StatusOr<std::shared_ptr<const VectorSegment>> VectorSegment::Read(
    const std::filesystem::path& folder, const std::string& name, const VectorSegmentOptions& options) {
  auto opened = CheckedReader::Open(folder / name, kSegmentMagic, kSegmentVersion);
  if (!opened.ok()) return opened.status();
  CheckedReader& reader = **opened;
  uint32_t width = 0;
  uint8_t has_graph = 0;
  std::vector<ItemOrdinal> ordinals;
  std::vector<float> vectors;
  if (absl::Status s = reader.Get(&width); !s.ok()) return s;
  if (absl::Status s = reader.Get(&has_graph); !s.ok()) return s;
  if (absl::Status s = reader.GetArray(&ordinals); !s.ok()) return s;
  if (absl::Status s = reader.GetArray(&vectors); !s.ok()) return s;
  if (width != static_cast<uint32_t>(options.width))
    return absl::FailedPreconditionError(
        absl::StrCat((folder / name).string(), " holds vectors of width ", width, ", not ", options.width));
  if (vectors.size() != ordinals.size() * width)
    return reader.Damaged("holds vectors and ordinals that differ");
  for (size_t i = 1; i < ordinals.size(); ++i) {
    if (ordinals[i - 1] >= ordinals[i]) return reader.Damaged("holds ordinals that are out of order");
  }
  if (!std::all_of(vectors.begin(), vectors.end(), [](float x) { return std::isfinite(x); }))
    return reader.Damaged("holds a vector that is not finite");

  std::shared_ptr<VectorSegment> segment(new VectorSegment(options.width, std::move(ordinals)));
  try {
    segment->faiss_->flat = std::make_unique<faiss::IndexFlat>(options.width, faiss::METRIC_INNER_PRODUCT);
    segment->faiss_->flat->add(static_cast<faiss::Index::idx_t>(segment->rows()), vectors.data());
    if (has_graph != 0) {
      auto graph = std::make_unique<faiss::IndexHNSW>(segment->faiss_->flat.get(), options.hnsw_m);
      faiss::HNSW& hnsw = graph->hnsw;
      int32_t entry = 0, max_level = 0, ef = 0;
      if (absl::Status s = reader.Get(&entry); !s.ok()) return s;
      if (absl::Status s = reader.Get(&max_level); !s.ok()) return s;
      if (absl::Status s = reader.Get(&ef); !s.ok()) return s;
      if (absl::Status s = reader.GetArray(&hnsw.assign_probas); !s.ok()) return s;
      if (absl::Status s = reader.GetArray(&hnsw.cum_nneighbor_per_level); !s.ok()) return s;
      if (absl::Status s = reader.GetArray(&hnsw.levels); !s.ok()) return s;
      if (absl::Status s = reader.GetArray(&hnsw.offsets); !s.ok()) return s;
      if (absl::Status s = reader.GetArray(&hnsw.neighbors); !s.ok()) return s;
      hnsw.entry_point = entry;
      hnsw.max_level = max_level;
      hnsw.efConstruction = ef;
      if (absl::Status s = CheckGraph(hnsw, segment->rows(), reader); !s.ok()) return s;
      graph->ntotal = static_cast<faiss::Index::idx_t>(segment->rows());
      segment->faiss_->graph = std::move(graph);
    }
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("FAISS could not load a segment: ", e.what()));
  }
  return segment;
}

}  // namespace waymark
