#include "training/past/arm_filter.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace waymark {
namespace {

using storage::ExperimentRecord;

// The user that an exposure's unit is, or has turned out to be.
UserNumber OwnerOf(const Store& store, Scope scope, const storage::ExposureRecord& exposure) {
  UserNumber number = exposure.number();
  if (number == 0) {
    const std::string id = exposure.unit().substr(2);
    number =
        (exposure.unit()[0] == 'u' ? store.FindUser(scope, id) : store.FindVisitor(scope, id)).value_or(0);
  }
  if (number == 0 || exposure.unit()[0] == 'u') return number;
  const auto record = store.GetUser(scope, number);
  return record.ok() && record->joined_to() != 0 ? record->joined_to() : number;
}

// In [0, 1), even over events.
double Draw(LogOffset offset) {
  uint64_t x = offset * 0x9E3779B97F4A7C15;  // splitmix64 (Steele, Lea, Flood 2014)
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

}  // namespace

std::string ArmWeight::Text() const { return absl::StrCat(experiment, "/", arm, "=", weight); }

absl::StatusOr<ArmWeight> ParseArmWeight(const std::string& text) {
  ArmWeight made;
  std::string names = text;
  const size_t equals = text.rfind('=');
  bool good = true;
  if (equals != std::string::npos) {
    names = text.substr(0, equals);
    good = absl::SimpleAtod(text.substr(equals + 1), &made.weight) && made.weight > 0 && made.weight <= 1;
  }
  const size_t slash = names.find('/');
  good = good && slash != std::string::npos && slash > 0 && slash + 1 < names.size();
  if (!good) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is not EXPERIMENT/ARM or EXPERIMENT/ARM=WEIGHT with a weight over 0, up to 1"));
  }
  made.experiment = names.substr(0, slash);
  made.arm = names.substr(slash + 1);
  return made;
}

absl::StatusOr<ArmFilter> ArmFilter::Read(const Store& store, Scope scope,
                                          const std::vector<ArmWeight>& arms) {
  ArmFilter filter;
  std::map<std::string, std::map<std::string, double>> asked;
  for (const ArmWeight& arm : arms) asked[arm.experiment][arm.arm] = arm.weight;
  for (const auto& [id, weights] : asked) {
    auto record = store.GetExperiment(scope, id);
    if (!record.ok()) return record.status();
    if (record->unit() != ExperimentRecord::USER && record->unit() != ExperimentRecord::VISITOR) {
      return absl::InvalidArgumentError(absl::StrCat(
          "experiment '", id, "' draws sessions or requests, so its arms belong to no user's events"));
    }
    if (record->mode() == ExperimentRecord::INTERLEAVED) {
      return absl::InvalidArgumentError(
          absl::StrCat("experiment '", id, "' is interleaved: both arms made its lists"));
    }
    const auto first = static_cast<uint32_t>(filter.arms_.size());
    size_t known = 0;
    for (const storage::ArmRecord& arm : record->arms()) {
      const auto found = weights.find(arm.name());
      known += found != weights.end();
      filter.arms_.push_back({absl::StrCat(id, "/", arm.name()), found == weights.end() ? 0 : found->second});
    }
    if (known < weights.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("experiment '", id, "' has no such arm among those asked for (",
                       weights.begin()->first, weights.size() > 1 ? ", ..." : "", ")"));
    }
    // Who has seen two arms teaches neither.
    const auto both = static_cast<uint32_t>(filter.arms_.size());
    filter.arms_.push_back({absl::StrCat(id, "/(two arms)"), 0});
    const absl::Status status =
        store.ForEachExposure(scope, id, [&](const storage::ExposureRecord& exposure) {
          const UserNumber owner = exposure.unit().size() < 3 ? 0 : OwnerOf(store, scope, exposure);
          if (owner == 0) return true;
          const uint32_t arm = exposure.conflict() ? both : first + static_cast<uint32_t>(exposure.arm());
          filter.enrolled_[owner].push_back({exposure.time_us(), arm});
          return true;
        });
    if (!status.ok()) return status;
  }
  return filter;
}

std::string ArmFilter::ArmOf(UserNumber user, int64_t time_us) const {
  const auto found = enrolled_.find(user);
  if (found == enrolled_.end()) return {};
  for (const Enrolled& one : found->second) {
    if (time_us >= one.from_us) return arms_[one.arm].name;
  }
  return {};
}

bool ArmFilter::Keeps(UserNumber user, const TrainingEvent& event) const {
  const auto found = enrolled_.find(user);
  if (found == enrolled_.end()) return true;
  double weight = 1;
  for (const Enrolled& one : found->second) {
    if (event.time_us >= one.from_us) weight *= arms_[one.arm].weight;
  }
  return weight >= 1 || Draw(event.offset) < weight;
}

}  // namespace waymark
