#include "training/distributed/epoch_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "recommend/network/counter_random.h"

namespace waymark {
namespace {

enum EpochRandom : uint64_t { kFileOrder = 21, kWindowPhase = 22, kWindowOrder = 23, kValidated = 24 };

void AddHistory(const HistoryExample& example, EpochData* data) {
  Interactions& events = data->events;
  events.users.push_back(example.user);
  events.times_us.insert(events.times_us.end(), example.times_us.begin(), example.times_us.end());
  data->rows.insert(data->rows.end(), example.rows.begin(), example.rows.end());
  events.starts.push_back(data->rows.size());
  data->ends.push_back(data->rows.size() - example.held_out);
}

}  // namespace

std::vector<std::vector<int>> FilesOfParts(int files, int parts, uint64_t seed, uint64_t epoch) {
  const uint64_t key = RandomKey(seed, {epoch, kFileOrder});
  std::vector<int> order(files);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [key](int a, int b) {
    const uint64_t x = RandomBits64(key, a), y = RandomBits64(key, b);
    return x != y ? x < y : a < b;
  });
  std::vector<std::vector<int>> of(parts);
  for (int i = 0; i < files; ++i) of[i % parts].push_back(order[i]);
  return of;
}

int64_t BatchesOfShards(const storage::ExamplesIndex& index, const RetrieverOptions& options) {
  return std::max<int64_t>(
      1, std::llround(static_cast<double>(index.targets()) / static_cast<double>(options.batch_tokens)));
}

std::vector<uint64_t> PartsOfRank(int parts, int rank, int ranks) {
  std::vector<uint64_t> own;
  for (int p = rank; p < parts; p += ranks) own.push_back(p);
  return own;
}

absl::StatusOr<EpochData> LoadEpoch(const ShardReader& reader, const storage::ExamplesIndex& index,
                                    const RetrieverOptions& options, const std::vector<uint64_t>& own,
                                    int parts, uint64_t epoch) {
  const auto files = FilesOfParts(index.files_size(), parts, options.seed, epoch);
  const int64_t batches = BatchesOfShards(index, options);
  const uint64_t phase = RandomKey(options.seed, {epoch, kWindowPhase});
  const uint64_t validated = RandomKey(options.seed, {kValidated});
  const double share = static_cast<double>(options.validation_users) /
                       static_cast<double>(std::max<int64_t>(index.examples(), 1));
  EpochData data;
  data.tokens.assign(batches, 0);
  for (uint64_t part : own) {
    std::vector<TrainingWindow> windows;
    for (int file : files[part]) {
      absl::Status read = reader.ReadHistories(file, [&](HistoryExample& example) {
        const uint64_t start = data.rows.size();
        AddHistory(example, &data);
        const uint64_t trained = data.ends.back() - start;
        CutWindows(start, trained > 0 ? trained - 1 : 0, options.shape.history_limit, phase, example.user,
                   &windows);
        const bool has_target = trained > 0 && example.held_out > 0;
        if (has_target && RandomUnit(validated, example.user) < share) {
          data.validation.push_back(data.ends.size() - 1);
        }
      });
      if (!read.ok()) return read;
    }
    const uint64_t key = RandomKey(options.seed, {epoch, kWindowOrder, part});
    for (size_t i = windows.size(); i > 1; --i) std::swap(windows[i - 1], windows[RandomBelow(key, i, i)]);
    uint64_t all = 0, before = 0;
    for (const TrainingWindow& window : windows) all += window.length;
    auto& of_batch = data.windows.emplace_back(batches);
    for (const TrainingWindow& window : windows) {
      const auto b = static_cast<int64_t>(static_cast<unsigned __int128>(before) * batches / all);
      of_batch[b].push_back(window);
      data.tokens[b] += window.length;
      before += window.length;
    }
  }
  return data;
}

}  // namespace waymark
