#include "training/distributed/rank_signs.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace waymark {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBeats{500}, kLooksFor{3000}, kLooksEach{250}, kToldWithin{3000},
    kStoreAnswersIn{3000};
constexpr char kTold[] = "failure";
constexpr size_t kMostNamed = 8;

int64_t NowMs() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string KeyOf(const char* what, int rank) { return absl::StrCat(what, "/", rank); }

void SetText(const c10::intrusive_ptr<c10d::Store>& store, const std::string& key, const std::string& text) {
  store->set(key, std::vector<uint8_t>(text.begin(), text.end()));
}

std::string TextAt(const c10::intrusive_ptr<c10d::Store>& store, const std::string& key) {
  if (!store->check({key})) return "";
  const std::vector<uint8_t> text = store->get(key);
  return std::string(text.begin(), text.end());
}

// Whether the work came to its end within the time; then `threw` says how. What it uses must be its own.
bool Bounded(std::function<void()> work, milliseconds limit, bool* threw = nullptr) {
  auto done = std::make_shared<std::promise<bool>>();
  std::future<bool> ended = done->get_future();
  std::thread([done, work = std::move(work)] {
    bool failed = false;
    try {
      work();
    } catch (...) {  // who holds the store has gone
      failed = true;
    }
    done->set_value(failed);
  }).detach();
  if (ended.wait_for(limit) != std::future_status::ready) return false;
  const bool failed = ended.get();
  if (threw != nullptr) *threw = failed;
  return true;
}

std::string WhoAmI() {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return absl::StrCat("host ", host, ", process ", getpid());
}

}  // namespace

struct RankSigns::Look {
  std::mutex mutex;
  bool ended = false;
  std::vector<std::string> who;  // [ranks]: host and process
  std::vector<bool> silent;      // no sign in the time
  std::vector<bool> noticed;     // looks itself: an exchange of its own has failed
  std::vector<Sign> last;
};

RankSigns::RankSigns(c10::intrusive_ptr<c10d::Store> store, const LaunchPlace& place)
    : store_(std::move(store)),
      rank_(place.rank),
      size_(place.world_size),
      agent_store_(place.agent_store),
      holder_(absl::StrCat(place.host, ":", place.port)),
      since_ms_(NowMs()) {
  if (store_ == nullptr) return;
  SetText(store_, KeyOf("who", rank_), WhoAmI());
  GiveSign();
  thread_ = std::jthread([this](const std::stop_token& stop) { BeatAndHear(stop); });
}

void RankSigns::Change(bool waits) {
  waits_ = waits;
  since_ms_ = NowMs();
}

void RankSigns::GiveSign() {
  SetText(store_, KeyOf("sign", rank_),
          absl::StrCat(++beat_, " ", waits_ ? 1 : 0, " ", (NowMs() - since_ms_) / 1000.0));
}

// Hears while the rank is at work, because with the first rank the store goes too.
void RankSigns::BeatAndHear(const std::stop_token& stop) {
  bool heard = false;
  try {
    while (!stop.stop_requested()) {
      GiveSign();
      if (!heard) {
        const std::string text = TextAt(store_, kTold);
        heard = !text.empty();
        std::lock_guard lock(mutex_);
        if (heard) told_ = text;
      }
      std::this_thread::sleep_for(kBeats);
    }
  } catch (...) {  // who holds the store has gone
  }
}

void RankSigns::Tell(const std::string& why) {
  if (store_ == nullptr) return;
  Bounded([store = store_, text = absl::StrCat("rank ", rank_, ": ", why)] { SetText(store, kTold, text); },
          kToldWithin);
  // The others hear it here, before they see that this rank has gone.
  std::this_thread::sleep_for(kToldWithin);
}

std::string RankSigns::Told() {
  // What the rank that failed has told may be under way.
  for (int tries = 0; thread_.joinable() && tries < 10; ++tries) {
    {
      std::lock_guard lock(mutex_);
      if (!told_.empty()) return told_;
    }
    std::this_thread::sleep_for(milliseconds(100));
  }
  return "";
}

void RankSigns::LookAtAll(const c10::intrusive_ptr<c10d::Store>& store, int size, int rank, Look* look) {
  SetText(store, KeyOf("noticed", rank), "1");
  std::vector<std::string> who(size);
  std::vector<Sign> first(size), last(size);
  std::vector<bool> noticed(size), silent(size);
  for (int r = 0; r < size; ++r) who[r] = TextAt(store, KeyOf("who", r));
  const int64_t until = NowMs() + kLooksFor.count();
  for (bool begun = false, open = true; open && NowMs() < until; begun = true) {
    if (begun) std::this_thread::sleep_for(kLooksEach);
    open = false;
    for (int r = 0; r < size; ++r) {
      if (!noticed[r]) noticed[r] = store->check({KeyOf("noticed", r)});
      const std::vector<std::string> words = absl::StrSplit(TextAt(store, KeyOf("sign", r)), ' ');
      if (words.size() == 3) {
        last[r].waits = words[1] == "1";
        (void)absl::SimpleAtoi(words[0], &last[r].beat);
        (void)absl::SimpleAtod(words[2], &last[r].seconds);
      }
      if (!begun) first[r] = last[r];
      silent[r] = last[r].beat == first[r].beat && !noticed[r];
      open = open || silent[r];
    }
  }
  SetText(store, KeyOf("looked", rank), "1");
  std::lock_guard lock(look->mutex);
  look->ended = true;
  look->who = std::move(who);
  look->silent = std::move(silent);
  look->noticed = std::move(noticed);
  look->last = std::move(last);
}

std::string RankSigns::HolderIsSilent(bool gone) const {
  const std::string what = gone ? " has ended" : " does not answer";
  if (agent_store_)
    return absl::StrCat("the launcher's store at ", holder_, what, ", so that nobody can be named");
  return absl::StrCat("rank 0, which holds the ranks' meeting at ", holder_, ",", what);
}

std::string RankSigns::NamesOf(const Look& look) const {
  std::vector<std::string> silent, busy;
  double longest = 0;
  for (int r = 0; r < size_; ++r) {
    const std::string name =
        absl::StrCat("rank ", r, look.who[r].empty() ? "" : absl::StrCat(" (", look.who[r], ")"));
    if (look.silent[r]) {
      silent.push_back(name);
    } else if (!look.noticed[r] && !look.last[r].waits) {
      busy.push_back(name);
      longest = std::max(longest, look.last[r].seconds);
    }
  }
  const auto list = [](std::vector<std::string> names) {
    const bool one = names.size() == 1;
    if (names.size() > kMostNamed) names.resize(kMostNamed), names.push_back("...");
    return std::pair{absl::StrJoin(names, ", "), one};
  };
  if (!silent.empty()) {
    const auto [names, one] = list(silent);
    return absl::StrCat(names,
                        one ? " has ended or stands still: no sign of it in "
                            : " have ended or stand still: no sign of them in ",
                        kLooksFor.count() / 1000, " s");
  }
  if (!busy.empty()) {
    const auto [names, one] = list(busy);
    return absl::StrFormat(
        "%s %s not come to the exchange, at work on something else for %.0f s; a longer "
        "--timeout waits longer",
        names, one ? "has" : "have", longest);
  }
  return "";
}

std::string RankSigns::WhoIsMissing() {
  if (store_ == nullptr || size_ == 1) return "";
  const auto look = std::make_shared<Look>();
  bool gone = false;
  const bool answered = Bounded(
      [store = store_, size = size_, rank = rank_, look] { LookAtAll(store, size, rank, look.get()); },
      kLooksFor + kStoreAnswersIn, &gone);
  std::string names;
  {
    std::lock_guard lock(look->mutex);
    names = look->ended                   ? NamesOf(*look)
            : rank_ == 0 && !agent_store_ ? ""
                                          : HolderIsSilent(answered && gone);
  }
  if (!look->ended) return names;
  // Who fails later hears it. With the first rank the store goes: the others look first.
  const std::string told = names.empty() ? "" : absl::StrCat("rank ", rank_, ": ", names);
  Bounded(
      [store = store_, size = size_, look, told, holds = rank_ == 0 && !agent_store_] {
        if (!told.empty() && !store->check({kTold})) SetText(store, kTold, told);
        if (!holds) return;
        const int64_t until = NowMs() + kLooksFor.count() + 1000;
        for (int r = 0; r < size; ++r) {
          while (!look->silent[r] && !store->check({KeyOf("looked", r)}) && NowMs() < until) {
            std::this_thread::sleep_for(kLooksEach);
          }
        }
      },
      kLooksFor + milliseconds(2000));
  return names;
}

}  // namespace waymark
