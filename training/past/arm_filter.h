// Which arm of an experiment a past decision was made under, and how much it counts in training: one arm
// alone, or arms pooled with weights.
//
//   auto filter = ArmFilter::Read(store, scope, {{"ranker-7", "new", 1}});     // other arms of it count
//   nothing filter->Keeps(user, event)
//
// A user's events belong to the arm from the first exposure on. What came before, and users that the
// experiment did not take in, count in full.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "store/store.h"
#include "training/past/training_log.h"

namespace waymark {

struct ArmWeight {
  std::string experiment, arm;
  double weight = 1;  // in (0, 1]

  std::string Text() const;  // «experiment/arm=weight»
};

// «EXPERIMENT/ARM» or «EXPERIMENT/ARM=WEIGHT». INVALID_ARGUMENT says what it takes.
absl::StatusOr<ArmWeight> ParseArmWeight(const std::string& text);

class ArmFilter {
 public:
  // NOT_FOUND: no such experiment. INVALID_ARGUMENT: no such arm; an experiment whose arms do not belong to
  // users.
  static absl::StatusOr<ArmFilter> Read(const Store& store, Scope scope, const std::vector<ArmWeight>& arms);

  // «experiment/arm» of those asked about; empty: of none.
  std::string ArmOf(UserNumber user, int64_t time_us) const;
  // Of a weight under 1, so large a share is kept, the same in every run.
  bool Keeps(UserNumber user, const TrainingEvent& event) const;

 private:
  struct Enrolled {
    int64_t from_us = 0;
    uint32_t arm = 0;  // of arms_
  };
  struct Arm {
    std::string name;  // «experiment/arm»
    double weight = 0;
  };
  std::vector<Arm> arms_;
  absl::flat_hash_map<UserNumber, std::vector<Enrolled>> enrolled_;
};

}  // namespace waymark
