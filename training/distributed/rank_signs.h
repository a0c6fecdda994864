// Signs of life of the ranks, in the store where they have met: so that who does not answer has a name when
// an exchange fails, and so that the rank that knows why it ends can tell the others.
//
//   RankSigns signs(store, place);
//   signs.BeginWaiting(); ... exchange ...; signs.EndWaiting();
//   signs.Tell("the disk is full");                    // the others read it: signs.Told()
//   ... the exchange failed: signs.WhoIsMissing() ...  // «rank 2 (host b, process 411) ...»
//
// A thread sets this rank's sign twice a second and hears what others tell. A process that stands still
// (SIGSTOP, a machine that swaps) gives no signs; one that is busy elsewhere says so in them. Nothing here
// waits for the store longer than it says, also when who holds it stands still. Thread-safe.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "training/distributed/launch.h"

namespace waymark {

class RankSigns {
 public:
  // store: null where there is none (mpi): then nobody hears anything. The first sign is there when it
  // returns.
  RankSigns(c10::intrusive_ptr<c10d::Store> store, const LaunchPlace& place);

  // Whether this rank waits in an exchange for others, or is at work.
  void BeginWaiting() { Change(true); }
  void EndWaiting() { Change(false); }

  // Tells the others why this one ends, and leaves them time to hear it. At most 6 s.
  void Tell(const std::string& why);
  // What another rank has told; waits a second for what may be under way. Empty: nothing.
  std::string Told();

  // To be asked when an exchange has failed: looks for 3 s who gives no signs, or is not in an exchange, and
  // names them with host and process. The rank that holds the store waits until the others have looked, at
  // most 6 s. Empty: all wait for each other, or there is no store.
  std::string WhoIsMissing();

 private:
  struct Sign {
    int64_t beat = 0;
    bool waits = false;
    double seconds = 0;  // in that state
  };
  struct Look;  // what WhoIsMissing finds out, on a thread of its own

  void Change(bool waits);
  void GiveSign();
  void BeatAndHear(const std::stop_token& stop);
  static void LookAtAll(const c10::intrusive_ptr<c10d::Store>& store, int size, int rank, Look* look);
  std::string HolderIsSilent(bool gone) const;
  std::string NamesOf(const Look& look) const;

  c10::intrusive_ptr<c10d::Store> store_;
  int rank_, size_;
  bool agent_store_;
  std::string holder_;             // HOST:PORT
  std::atomic<int64_t> since_ms_;  // of the state
  std::atomic<bool> waits_{false};
  int64_t beat_ = 0;
  std::mutex mutex_;
  std::string told_;
  std::jthread thread_;
};

}  // namespace waymark
