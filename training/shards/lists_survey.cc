#include "training/shards/lists_survey.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "training/shards/shard_writer.h"

namespace waymark {
namespace {

struct FileSurvey {
  explicit FileSurvey(size_t columns) : moments(columns) {}
  FeatureMoments moments;
  absl::flat_hash_map<ItemOrdinal, int64_t> counts;
  int64_t lists = 0, with_query = 0;
  LogOffset first = std::numeric_limits<LogOffset>::max(), last = 0;
  int64_t first_time_us = INT64_MAX, last_time_us = INT64_MIN;
};

void CountItems(const RankingList& list, bool trained, FileSurvey* file) {
  const int64_t one = trained ? 1 : 0;
  for (ItemOrdinal item : list.history) file->counts[item] += one;
  for (size_t c = 0; c < list.candidates.size(); ++c) {
    file->counts[list.candidates[c]] += list.gains[c] > 0 ? one : 0;
  }
}

absl::Status SurveyFile(const ListReader& reader, const storage::ExamplesIndex::File& in, size_t columns,
                        bool trained, FileSurvey* file) {
  RankingLists lists(columns, {.limit_bytes = std::numeric_limits<size_t>::max()});
  absl::Status read = reader.ReadLists(in, [&](const RankingList& list) {
    CountItems(list, trained, file);
    file->first = std::min(file->first, list.position);
    file->last = std::max(file->last, list.position);
    file->first_time_us = std::min(file->first_time_us, list.time_us);
    file->last_time_us = std::max(file->last_time_us, list.time_us);
    ++file->lists;
    return trained ? lists.Add(list) : absl::OkStatus();
  });
  if (!read.ok()) return read;
  file->with_query = lists.with_query();
  std::vector<size_t> all(lists.size());
  std::iota(all.begin(), all.end(), size_t{0});
  file->moments = MomentsOf(lists, all);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ListsSurvey> SurveyLists(const ListReader& reader, const storage::ListsIndex& index,
                                        int threads, const std::stop_token& stop) {
  const auto columns = static_cast<size_t>(index.features_size());
  const int trained = index.files_size(), all = trained + index.validation_size();
  std::vector<FileSurvey> files(static_cast<size_t>(all), FileSurvey(columns));
  const absl::Status read = RunSideBySide(all, threads, nullptr, stop, [&](int f) {
    return SurveyFile(reader, f < trained ? index.files(f) : index.validation(f - trained), columns,
                      f < trained, &files[static_cast<size_t>(f)]);
  });
  if (!read.ok()) return read;
  ListsSurvey survey(columns);
  constexpr int64_t kNotNamed = -1;
  std::vector<int64_t> counts(static_cast<size_t>(index.item_end()), kNotNamed);
  bool unknown = false;  // a history names an item that is not known
  survey.first = std::numeric_limits<LogOffset>::max();
  survey.first_time_us = INT64_MAX;
  for (int f = 0; f < all; ++f) {
    const FileSurvey& file = files[static_cast<size_t>(f)];
    for (const auto& [item, count] : file.counts) {
      if (item == kNoItem) {
        unknown = true;
        continue;
      }
      counts[item] = std::max<int64_t>(counts[item], 0) + count;
    }
    (f < trained ? survey.lists : survey.validation_lists) += file.lists;
    if (f >= trained || file.lists == 0) continue;
    survey.moments.Merge(file.moments);
    survey.with_query += file.with_query;
    survey.first = std::min(survey.first, file.first);
    survey.last = std::max(survey.last, file.last);
    survey.first_time_us = std::min(survey.first_time_us, file.first_time_us);
    survey.last_time_us = std::max(survey.last_time_us, file.last_time_us);
  }
  for (size_t item = 0; item < counts.size(); ++item) {
    if (counts[item] == kNotNamed) continue;
    survey.items.push_back(static_cast<ItemOrdinal>(item));
    survey.counts.push_back(counts[item]);
  }
  if (unknown) {
    survey.items.push_back(kNoItem);
    survey.counts.push_back(0);
  }
  return survey;
}

}  // namespace waymark
