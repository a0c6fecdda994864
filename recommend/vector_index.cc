#include "recommend/vector_index.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "recommend/vector_index_impl.h"
#include "recommend/vector_merge.h"

namespace waymark {
namespace {

// The next snapshot in the making: parts are copied when they are first changed.
class Edit {
 public:
  explicit Edit(const VectorSnapshot& base) : next_(std::make_shared<VectorSnapshot>(base)) {}
  VectorSnapshot& next() { return *next_; }
  std::shared_ptr<const VectorSnapshot> Done() { return std::move(next_); }

  void MarkDead(std::shared_ptr<const RowBits>* bits, size_t rows, size_t row) {
    if (!fresh_.contains(bits->get())) {
      auto copy = *bits == nullptr ? std::make_shared<RowBits>(rows) : std::make_shared<RowBits>(**bits);
      fresh_.emplace(copy.get(), copy);
      *bits = std::move(copy);
    }
    fresh_[bits->get()]->Set(row);
  }

 private:
  std::shared_ptr<VectorSnapshot> next_;
  absl::flat_hash_map<const RowBits*, std::shared_ptr<RowBits>> fresh_;
};

bool Dead(const std::shared_ptr<const RowBits>& bits, size_t row) {
  return bits != nullptr && bits->Get(row);
}

// Marks the live row of `item` dead, wherever it is. False: there is none.
bool Drop(Edit* edit, ItemOrdinal item,
          absl::flat_hash_map<ItemOrdinal, VectorIndex::Impl::TailPlace>* tail) {
  VectorSnapshot& next = edit->next();
  if (auto at = tail->find(item); at != tail->end()) {
    for (BlockView& view : next.tail) {
      if (view.block.get() == at->second.block) edit->MarkDead(&view.dead, TailBlock::kRows, at->second.row);
    }
    tail->erase(at);
    --next.live;
    return true;
  }
  for (VectorSegmentView& view : next.segments) {
    const auto row = view.segment->RowOf(item);
    if (!row || Dead(view.dead, *row)) continue;
    edit->MarkDead(&view.dead, view.segment->rows(), *row);
    ++view.dead_rows;
    --next.live;
    return true;
  }
  return false;
}

}  // namespace

VectorIndex::VectorIndex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
VectorIndex::~VectorIndex() = default;

absl::StatusOr<std::unique_ptr<VectorIndex>> VectorIndex::Create(const VectorIndexOptions& options) {
  if (options.width < 1 || options.width > 4096)
    return absl::InvalidArgumentError(absl::StrCat("width is ", options.width, "; it takes 1 to 4096"));
  if (options.hnsw_m < 2 || options.ef_construction < 1 || options.ef_search < 1)
    return absl::InvalidArgumentError("hnsw_m takes at least 2, ef_construction and ef_search at least 1");
  return std::unique_ptr<VectorIndex>(new VectorIndex(std::make_unique<Impl>(options)));
}

absl::Status VectorIndex::Add(absl::Span<const ItemOrdinal> items, absl::Span<const float> vectors) {
  Impl& impl = *impl_;
  const size_t width = static_cast<size_t>(impl.options.width);
  if (vectors.size() != items.size() * width)
    return absl::InvalidArgumentError(absl::StrCat("vectors holds ", vectors.size(), " numbers; ",
                                                   items.size(), " items of width ", width, " take ",
                                                   items.size() * width));
  for (size_t i = 0; i < vectors.size(); ++i) {
    if (!std::isfinite(vectors[i]))
      return absl::InvalidArgumentError(
          absl::StrCat("the vector of item ", items[i / width], " is not finite"));
  }
  std::lock_guard lock(impl.write_mutex);
  Edit edit(*impl.Current());
  VectorSnapshot& next = edit.next();
  const size_t needed =
      next.bytes(impl.options.width) + items.size() * (width * sizeof(float) + sizeof(ItemOrdinal));
  if (needed > impl.options.memory_limit_bytes)
    return absl::ResourceExhaustedError(absl::StrCat(
        "the item vectors need ", needed, " bytes; the limit is ", impl.options.memory_limit_bytes));
  for (size_t i = 0; i < items.size(); ++i) {
    Drop(&edit, items[i], &impl.tail_places);
    if (next.tail.empty() || next.tail.back().rows == TailBlock::kRows)
      next.tail.push_back({std::make_shared<TailBlock>(impl.options.width), 0, nullptr});
    BlockView& last = next.tail.back();
    last.block->Write(last.rows, items[i], &vectors[i * width]);
    impl.tail_places[items[i]] = {last.block.get(), last.rows};
    ++last.rows;
    ++next.live;
  }
  impl.Publish(edit.Done());
  return absl::OkStatus();
}

void VectorIndex::Remove(absl::Span<const ItemOrdinal> items) {
  std::lock_guard lock(impl_->write_mutex);
  Edit edit(*impl_->Current());
  bool changed = false;
  for (ItemOrdinal item : items) changed |= Drop(&edit, item, &impl_->tail_places);
  if (changed) impl_->Publish(edit.Done());
}

absl::StatusOr<std::vector<ScoredItem>> VectorIndex::Search(absl::Span<const float> query, size_t limit,
                                                            const ItemSet* allowed,
                                                            absl::Span<const ItemOrdinal> excluded,
                                                            Deadline deadline) const {
  if (query.size() != static_cast<size_t>(impl_->options.width))
    return absl::InvalidArgumentError(
        absl::StrCat("the query vector has width ", query.size(), ", not ", impl_->options.width));
  if (limit == 0) return std::vector<ScoredItem>{};
  return impl_->Current()->Search(impl_->options, query.data(), limit, allowed, excluded, deadline);
}

size_t VectorIndex::ReadVectors(absl::Span<const ItemOrdinal> items, absl::Span<float> out) const {
  return impl_->Current()->ReadVectors(impl_->options.width, items, out);
}

size_t VectorIndex::memory_bytes() const { return impl_->Current()->bytes(impl_->options.width); }
size_t VectorIndex::size() const { return impl_->Current()->live; }
int VectorIndex::width() const { return impl_->options.width; }
std::string VectorIndex::FaissBuild() { return WAYMARK_FAISS_BUILD; }

absl::Status VectorIndex::Maintain(const std::function<bool()>& cancelled) {
  std::lock_guard maintaining(impl_->maintain_mutex);
  if (absl::Status s = impl_->SealTail(cancelled); !s.ok()) return s;
  while (true) {
    auto snapshot = impl_->Current();
    std::vector<SegmentSize> sizes;
    for (const VectorSegmentView& view : snapshot->segments)
      sizes.push_back({view.segment->rows(), view.dead_rows});
    const size_t used = snapshot->bytes(impl_->options.width);
    const size_t left =
        impl_->options.memory_limit_bytes > used ? impl_->options.memory_limit_bytes - used : 0;
    // A row's vector twice (in the making), its links and its ordinal.
    const size_t row_bytes =
        static_cast<size_t>(impl_->options.width) * 8 + static_cast<size_t>(impl_->options.hnsw_m) * 9 + 24;
    const std::vector<size_t> plan = PlanMerge(sizes, left / row_bytes);
    if (plan.empty()) return absl::OkStatus();
    std::vector<std::shared_ptr<const VectorSegment>> merged;
    for (size_t i : plan) merged.push_back(snapshot->segments[i].segment);
    if (absl::Status s = impl_->Replace(*snapshot, merged, 0, cancelled); !s.ok()) return s;
  }
}

absl::Status VectorIndex::Impl::SealTail(const std::function<bool()>& cancelled) {
  std::shared_ptr<const VectorSnapshot> snapshot;
  size_t blocks = 0;
  {
    std::lock_guard lock(write_mutex);
    snapshot = Current();
    if (snapshot->TailRows() < options.tail_limit || snapshot->TailRows() == 0) return absl::OkStatus();
    // What is appended from now on goes into a new block: those before it are whole.
    blocks = snapshot->tail.size();
    Edit edit(*snapshot);
    edit.next().tail.push_back({std::make_shared<TailBlock>(options.width), 0, nullptr});
    Publish(edit.Done());
  }
  return Replace(*snapshot, {}, blocks, cancelled);
}

absl::Status VectorIndex::Impl::Replace(const VectorSnapshot& from,
                                        const std::vector<std::shared_ptr<const VectorSegment>>& old_segments,
                                        size_t old_blocks, const std::function<bool()>& cancelled) {
  struct Row {
    ItemOrdinal item;
    const float* vector;
  };
  std::vector<Row> rows;
  for (const VectorSegmentView& view : from.segments) {
    if (std::find(old_segments.begin(), old_segments.end(), view.segment) == old_segments.end()) continue;
    for (size_t row = 0; row < view.segment->rows(); ++row) {
      if (!Dead(view.dead, row)) rows.push_back({view.segment->ordinals()[row], view.segment->vector(row)});
    }
  }
  for (size_t b = 0; b < old_blocks; ++b) {
    const BlockView& view = from.tail[b];
    for (size_t row = 0; row < view.rows; ++row) {
      if (!Dead(view.dead, row)) rows.push_back({view.block->item(row), view.block->vector(row)});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.item < b.item; });
  std::vector<ItemOrdinal> ordinals;
  std::vector<float> vectors;
  vectors.reserve(rows.size() * static_cast<size_t>(options.width));
  for (const Row& row : rows) {
    ordinals.push_back(row.item);
    vectors.insert(vectors.end(), row.vector, row.vector + options.width);
  }
  std::shared_ptr<const VectorSegment> built;
  if (!rows.empty()) {
    auto segment = VectorSegment::Build(SegmentOptions(), std::move(ordinals), vectors, cancelled);
    if (!segment.ok()) return segment.status();
    built = *std::move(segment);
  }

  std::lock_guard lock(write_mutex);
  Edit edit(*Current());
  VectorSnapshot& next = edit.next();
  VectorSegmentView added{built, nullptr, 0};
  // Rows that died while the new segment was built are dead in it too.
  auto carry = [&](ItemOrdinal item) {
    if (built == nullptr) return;
    if (const auto row = built->RowOf(item)) {
      edit.MarkDead(&added.dead, built->rows(), *row);
      ++added.dead_rows;
    }
  };
  for (const VectorSegmentView& before : from.segments) {
    auto now = std::find_if(next.segments.begin(), next.segments.end(),
                            [&](const VectorSegmentView& v) { return v.segment == before.segment; });
    if (std::find(old_segments.begin(), old_segments.end(), before.segment) == old_segments.end()) continue;
    for (size_t row = 0; row < before.segment->rows(); ++row) {
      if (!Dead(before.dead, row) && Dead(now->dead, row)) carry(before.segment->ordinals()[row]);
    }
    next.segments.erase(now);
  }
  for (size_t b = 0; b < old_blocks; ++b) {
    const BlockView& before = from.tail[b];
    const BlockView& now = next.tail[b];
    for (size_t row = 0; row < before.rows; ++row) {
      if (!Dead(before.dead, row) && Dead(now.dead, row)) carry(before.block->item(row));
      auto place = tail_places.find(before.block->item(row));
      if (place != tail_places.end() && place->second.block == before.block.get()) tail_places.erase(place);
    }
  }
  next.tail.erase(next.tail.begin(), next.tail.begin() + static_cast<std::ptrdiff_t>(old_blocks));
  if (built != nullptr) next.segments.push_back(std::move(added));
  Publish(edit.Done());
  return absl::OkStatus();
}

}  // namespace waymark
