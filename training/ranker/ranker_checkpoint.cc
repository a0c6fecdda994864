#include "training/ranker/ranker_checkpoint.h"

#include <xxhash.h>

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr char kCounters[] = "counters";
constexpr size_t kCounterCount = 10;

class Fingerprint {
 public:
  Fingerprint() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
  ~Fingerprint() { XXH3_freeState(state_); }
  Fingerprint(const Fingerprint&) = delete;
  template <typename T>
  void Number(T value) {
    const double as_double = static_cast<double>(value);
    XXH3_64bits_update(state_, &as_double, sizeof(as_double));
  }
  template <typename T>
  void Values(absl::Span<const T> values) {
    Number(values.size());
    if (!values.empty()) XXH3_64bits_update(state_, values.data(), values.size() * sizeof(T));
  }
  uint64_t Value() const { return XXH3_64bits_digest(state_); }

 private:
  XXH3_state_t* state_;
};

void AddLists(const RankingLists& lists, Fingerprint* print) {
  print->Number(lists.size());
  print->Number(lists.feature_count());
  for (size_t i = 0; i < lists.size(); ++i) {
    const RankingList list = lists[i];
    print->Values(list.features);
    print->Values(list.candidates);
    print->Values(list.gains);
    print->Values(list.history);
    print->Values(list.types);
    print->Values(list.query);
  }
}

}  // namespace

uint64_t RankerFingerprint(const RankingLists& train, const RankingLists& validation,
                           const RankerTrainerOptions& o) {
  Fingerprint print;
  AddLists(train, &print);
  AddLists(validation, &print);
  print.Number(o.seed);
  for (double value : {o.learning_rate, o.final_learning_rate_share, o.weight_decay, o.validation_share,
                       o.dropout, o.id_dropout}) {
    print.Number(value);
  }
  for (int64_t value :
       {int64_t{o.lists_per_batch}, int64_t{o.max_epochs}, int64_t{o.patience}, int64_t{o.min_item_count},
        o.width, o.hidden1, o.hidden2, o.attention_heads, o.content_buckets, o.query_buckets}) {
    print.Number(value);
  }
  return print.Value();
}

std::filesystem::path RankerCheckpointFile(const RankerTrainerOptions& options) {
  return options.checkpoint_folder / "ranker-checkpoint.safetensors";
}

absl::Status SaveRankerCheckpoint(const std::filesystem::path& file, uint64_t fingerprint,
                                  RankerCheckpoint checkpoint) {
  const RankerTrainingState& s = checkpoint.state;
  const int64_t counters[kCounterCount] = {std::bit_cast<int64_t>(fingerprint),
                                           s.epoch,
                                           s.batches,
                                           s.step,
                                           std::bit_cast<int64_t>(s.loss_sum),
                                           s.loss_lists,
                                           std::bit_cast<int64_t>(s.last_loss),
                                           s.best_epoch,
                                           std::bit_cast<int64_t>(s.best_ndcg),
                                           std::bit_cast<int64_t>(s.last_ndcg)};
  TensorData data;
  data.type = TensorData::Type::kI64;
  data.shape = {static_cast<int64_t>(kCounterCount)};
  data.bytes.resize(sizeof(counters));
  std::memcpy(data.bytes.data(), counters, sizeof(counters));
  checkpoint.tensors[kCounters] = std::move(data);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  std::filesystem::path part = file;
  part += ".part";
  if (auto status = WriteSafetensors(part, checkpoint.tensors); !status.ok()) return status;
  std::filesystem::rename(part, file, error);
  if (error) {
    return absl::UnavailableError(absl::StrCat(file.string(), " can't be replaced: ", error.message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<RankerCheckpoint> LoadRankerCheckpoint(const std::filesystem::path& file,
                                                      uint64_t fingerprint) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    return absl::NotFoundError(absl::StrCat("there is no checkpoint ", file.string()));
  }
  auto tensors = ReadSafetensors(file);
  if (!tensors.ok()) return tensors.status();
  const auto found = tensors->find(kCounters);
  if (found == tensors->end() || found->second.type != TensorData::Type::kI64 ||
      found->second.bytes.size() != kCounterCount * sizeof(int64_t)) {
    return absl::DataLossError(absl::StrCat(file.string(), " has no tensor 'counters' of ", kCounterCount,
                                            " numbers; remove it to train from the start"));
  }
  int64_t counters[kCounterCount];
  std::memcpy(counters, found->second.bytes.data(), sizeof(counters));
  if (std::bit_cast<uint64_t>(counters[0]) != fingerprint) {
    return absl::FailedPreconditionError(
        absl::StrCat(file.string(), " is of other lists or options; remove it to train from the start"));
  }
  RankerCheckpoint checkpoint;
  RankerTrainingState& s = checkpoint.state;
  s.epoch = static_cast<int>(counters[1]);
  s.batches = counters[2];
  s.step = counters[3];
  s.loss_sum = std::bit_cast<double>(counters[4]);
  s.loss_lists = counters[5];
  s.last_loss = std::bit_cast<double>(counters[6]);
  s.best_epoch = static_cast<int>(counters[7]);
  s.best_ndcg = std::bit_cast<double>(counters[8]);
  s.last_ndcg = std::bit_cast<double>(counters[9]);
  checkpoint.tensors = std::move(*tensors);
  return checkpoint;
}

}  // namespace waymark
