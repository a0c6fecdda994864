#include "training/retriever/retriever_checkpoint.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

constexpr char kFile[] = "retriever.checkpoint.safetensors";
constexpr int64_t kFormat = 1;

TensorData Bytes(std::string_view text) {
  return {TensorData::Type::kU8, {static_cast<int64_t>(text.size())}, {text.begin(), text.end()}};
}

// Doubles keep all their bits as integers.
TensorData Numbers(const std::vector<double>& values) {
  TensorData data{TensorData::Type::kI64, {static_cast<int64_t>(values.size())}, {}};
  data.bytes.resize(values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(data.bytes.data(), values.data(), data.bytes.size());
  return data;
}

std::vector<double> ReadNumbers(const TensorData& data) {
  std::vector<double> values(data.bytes.size() / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), data.bytes.data(), values.size() * sizeof(double));
  return values;
}

std::string Digest(const TensorMap& tensors) {
  std::string text;
  for (const auto& [name, data] : tensors) {
    if (name == "digest") continue;
    absl::StrAppend(&text, name, " ",
                    Sha256Hex({reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size()}), "\n");
  }
  return Sha256Hex(text);
}

struct Slot {
  const char* name;
  at::Tensor* tensor;
};
std::vector<Slot> Slots(RetrieverModel* model) {
  return {{"dense", &model->dense.flat},
          {"id", &model->tables.id},
          {"buckets", &model->tables.buckets},
          {"dense.first", &model->dense_moments.first},
          {"dense.second", &model->dense_moments.second},
          {"id.first", &model->id_moments.first},
          {"id.second", &model->id_moments.second},
          {"buckets.first", &model->bucket_moments.first},
          {"buckets.second", &model->bucket_moments.second}};
}
std::vector<Slot> BestSlots(BestWeights* best) {
  return {{"best.dense", &best->dense}, {"best.id", &best->id}, {"best.buckets", &best->buckets}};
}

absl::Status Damaged(const std::filesystem::path& file, absl::string_view what) {
  return absl::DataLossError(
      absl::StrCat("the checkpoint ", file.string(), " ", what, "; remove it to train from the start"));
}

}  // namespace

absl::Status SaveCheckpoint(const std::filesystem::path& folder, const std::string& fingerprint,
                            const RetrieverModel& model, const TrainingPlace& place,
                            const BestWeights& best) {
  TensorMap tensors;
  for (const Slot& slot : Slots(const_cast<RetrieverModel*>(&model))) {
    tensors[slot.name] = ToTensorData(*slot.tensor);
  }
  BestWeights copy = best;
  if (best.dense.defined()) {
    for (const Slot& slot : BestSlots(&copy)) tensors[slot.name] = ToTensorData(*slot.tensor);
  }
  tensors["fingerprint"] = Bytes(fingerprint);
  tensors["place"] = Numbers({static_cast<double>(kFormat), static_cast<double>(place.epoch),
                              static_cast<double>(place.batch), static_cast<double>(place.step),
                              static_cast<double>(place.best_epoch), place.best_ndcg10, place.best_hit10,
                              place.loss_sum, place.elapsed_s});
  tensors["ndcg10"] = Numbers(place.ndcg10);
  tensors["losses"] = Numbers(place.losses);
  tensors["digest"] = Bytes(Digest(tensors));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path file = folder / kFile, fresh = folder / (std::string(kFile) + ".new");
  if (absl::Status written = WriteSafetensors(fresh, tensors); !written.ok()) return written;
  std::filesystem::rename(fresh, file, error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot rename ", fresh.string(), " to ", file.string(), ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LoadCheckpoint(const std::filesystem::path& folder, const std::string& fingerprint,
                                    RetrieverModel* model, TrainingPlace* place, BestWeights* best) {
  const std::filesystem::path file = folder / kFile;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return false;
  absl::StatusOr<TensorMap> tensors = ReadSafetensors(file);
  if (!tensors.ok()) return Damaged(file, absl::StrCat("is damaged (", tensors.status().message(), ")"));
  for (const char* name : {"fingerprint", "place", "ndcg10", "losses", "digest"}) {
    if (!tensors->contains(name)) return Damaged(file, absl::StrCat("lacks '", name, "'"));
  }
  const auto text = [&](const char* name) {
    const std::vector<uint8_t>& bytes = tensors->at(name).bytes;
    return std::string(bytes.begin(), bytes.end());
  };
  if (text("digest") != Digest(*tensors)) return Damaged(file, "does not match its digest");
  const std::vector<double> numbers = ReadNumbers(tensors->at("place"));
  if (numbers.size() != 9 || numbers[0] != kFormat || text("fingerprint") != fingerprint) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the checkpoint ", file.string(), " belongs to a training run with other data, options or program; ",
        "remove it, or name another checkpoint folder, to train from the start"));
  }
  for (const Slot& slot : Slots(model)) {
    absl::StatusOr<at::Tensor> tensor = FromTensorMap(*tensors, {slot.name, slot.tensor->sizes().vec()});
    if (!tensor.ok()) return Damaged(file, tensor.status().message());
    slot.tensor->copy_(*tensor);
  }
  if (tensors->contains("best.dense")) {
    const std::vector<Slot> current = Slots(model);
    const std::vector<Slot> slots = BestSlots(best);
    for (size_t i = 0; i < slots.size(); ++i) {
      absl::StatusOr<at::Tensor> tensor =
          FromTensorMap(*tensors, {slots[i].name, current[i].tensor->sizes().vec()});
      if (!tensor.ok()) return Damaged(file, tensor.status().message());
      *slots[i].tensor = *std::move(tensor);
    }
  }
  place->epoch = static_cast<int64_t>(numbers[1]);
  place->batch = static_cast<int64_t>(numbers[2]);
  place->step = static_cast<int64_t>(numbers[3]);
  place->best_epoch = static_cast<int64_t>(numbers[4]);
  place->best_ndcg10 = numbers[5];
  place->best_hit10 = numbers[6];
  place->loss_sum = numbers[7];
  place->elapsed_s = numbers[8];
  place->ndcg10 = ReadNumbers(tensors->at("ndcg10"));
  place->losses = ReadNumbers(tensors->at("losses"));
  return true;
}

void RemoveCheckpoint(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::remove(folder / kFile, ignored);
}

}  // namespace waymark
