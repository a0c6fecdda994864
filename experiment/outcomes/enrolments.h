// Who is enrolled in one experiment, and in which arm: what keeps a unit where it is. In memory; the
// exposures in the store are its truth.
//
// Thread-safe: requests read it while others enrol.
#pragma once
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "waymark/storage/experiments.pb.h"

namespace waymark {

class Enrolments {
 public:
  std::optional<int> ArmOf(const std::string& unit) const;

  enum class Outcome { kNew, kKnown, kConflict };
  // kConflict: the unit has another arm.
  Outcome Enrol(const storage::ExposureRecord& exposure);
  // True the first time: the unit was seen in two arms.
  bool MarkConflict(const std::string& unit);
  // True the first time: the visitor, enrolled in the same arm, is this user.
  bool MarkSame(const std::string& visitor, const std::string& user);
  // Undoes kNew, when the store did not take the exposure.
  void Forget(const std::string& unit);

  // What was enrolled since the last call, and whose conflict was marked; the follower of the log asks.
  struct News {
    std::vector<storage::ExposureRecord> enrolled;
    std::vector<std::string> conflicts;
    std::vector<std::pair<std::string, std::string>> same;  // visitor, user
  };
  News TakeNews();

  int64_t size() const;
  int64_t conflicts() const;

 private:
  struct Entry {
    int arm = 0;
    bool conflict = false;
  };
  mutable std::shared_mutex mutex_;
  absl::flat_hash_map<std::string, Entry> entries_;
  absl::flat_hash_set<std::string> joined_;  // visitors who are one unit with a user
  int64_t conflicts_ = 0;
  News news_;
};

}  // namespace waymark
