#include "training/distributed/list_stream.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

namespace waymark {

const PartOrder& ListStream::OrderOf(int64_t epoch) {
  const size_t slot = static_cast<size_t>(epoch) % 2;
  if (order_epochs_[slot] != epoch) {
    orders_[slot] = OrderOfLists(*index_, options_.parts, options_.seed, static_cast<uint64_t>(epoch),
                                 options_.chunk_bytes)[part_];
    order_epochs_[slot] = epoch;
  }
  return orders_[slot];
}

ListStream::LoadedChunk ListStream::Load(int64_t epoch, size_t number, const ListChunk& chunk) const {
  auto loaded =
      std::make_unique<Chunk>(Chunk{epoch,
                                    number,
                                    RankingLists(static_cast<size_t>(index_->features_size()),
                                                 {.limit_bytes = std::numeric_limits<size_t>::max()}),
                                    {}});
  for (int file : chunk.files) {
    absl::Status read = reader_->ReadLists(index_->files(file),
                                           [&](const RankingList& list) { return loaded->lists.Add(list); });
    if (!read.ok()) return read;
  }
  loaded->order = OrderInChunk(chunk.lists, options_.seed, static_cast<uint64_t>(epoch), part_, number);
  return loaded;
}

absl::Status ListStream::Take(int64_t epoch, size_t number) {
  if (current_ != nullptr && current_->epoch == epoch && current_->number == number) return absl::OkStatus();
  if (coming_.valid() && (coming_epoch_ != epoch || coming_number_ != number)) coming_.get().IgnoreError();
  const auto begin = [this](int64_t of_epoch, size_t chunk) {
    coming_epoch_ = of_epoch;
    coming_number_ = chunk;
    coming_ =
        std::async(std::launch::async, [this, of_epoch, chunk, files = OrderOf(of_epoch).chunks[chunk]] {
          return Load(of_epoch, chunk, files);
        });
  };
  if (!coming_.valid()) begin(epoch, number);
  current_.reset();
  LoadedChunk loaded = coming_.get();
  if (!loaded.ok()) return loaded.status();
  current_ = *std::move(loaded);
  if (number + 1 < OrderOf(epoch).chunks.size()) {
    begin(epoch, number + 1);
  } else if (epoch + 1 < options_.epochs && !OrderOf(epoch + 1).chunks.empty()) {
    begin(epoch + 1, 0);
  }
  return absl::OkStatus();
}

absl::Status ListStream::Read(int64_t epoch, int64_t batch, int64_t batches, RankingLists* lists) {
  lists->Clear();
  const PartOrder& order = OrderOf(epoch);
  const std::vector<ListChunk>& chunks = order.chunks;
  int64_t at = order.FirstOf(batch, batches);
  const int64_t end = order.FirstOf(batch + 1, batches);
  const auto after =
      std::upper_bound(chunks.begin(), chunks.end(), at,
                       [](int64_t list, const ListChunk& chunk) { return list < chunk.first; });
  for (size_t c = static_cast<size_t>(std::max<ptrdiff_t>(after - chunks.begin() - 1, 0)); at < end; ++c) {
    const ListChunk& chunk = chunks[c];
    if (at >= chunk.first + chunk.lists) continue;
    if (absl::Status taken = Take(epoch, c); !taken.ok()) return taken;
    for (; at < std::min(end, chunk.first + chunk.lists); ++at) {
      const size_t place = current_->order[static_cast<size_t>(at - chunk.first)];
      if (absl::Status added = lists->Add(current_->lists[place]); !added.ok()) return added;
    }
  }
  return absl::OkStatus();
}

}  // namespace waymark
