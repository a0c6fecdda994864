// A small plan, trainers whose updates a test knows, and sites that talk to a Coordinator without a network.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <map>
#include <optional>

#include "recommend/network/counter_random.h"
#include "tests/support/catch.h"
#include "training/federated/model/federated_defaults.h"
#include "training/federated/rounds/coordinator.h"
#include "training/federated/rounds/update_words.h"

namespace waymark::tests {

class FederationFolder {
 public:
  FederationFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("federation." + std::to_string(getpid()) + "." + std::to_string(++made_))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~FederationFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  inline static int made_ = 0;  // a test may have two federations
  std::filesystem::path path_;
};

inline federated::Plan SmallPlan() {
  federated::Plan plan = DefaultPlan();
  RetrieverShape shape;
  shape.width = 8;
  shape.heads = 1;
  shape.blocks = 1;
  shape.hidden = 8;
  shape.history_limit = 4;
  shape.content_buckets = 16;
  shape.content_width = 4;
  shape.ToNetwork(plan.mutable_network());
  plan.set_buckets(64);
  plan.set_rounds(2);
  plan.set_server_rate(1);
  plan.set_table_factor(1);
  plan.set_update_clip(8);
  plan.set_most_events(1000);
  return plan;
}

// Values in -.01 .. .01 that a test can make again.
inline std::vector<float> KnownMove(const std::string& site, int round, size_t numbers) {
  std::vector<float> moved(numbers);
  uint64_t name = 0;
  for (unsigned char c : site) name = MixBits(name ^ c);
  const uint64_t key = RandomKey(name, {static_cast<uint64_t>(round)});
  for (size_t i = 0; i < numbers; ++i) moved[i] = static_cast<float>(.02 * RandomUnit(key, i) - .01);
  return moved;
}

// Always the same number of events.
class KnownTrainer : public SiteTrainer {
 public:
  KnownTrainer(std::string site, int64_t events) : site_(std::move(site)), events_(events) {}
  absl::StatusOr<LocalUpdate> Train(absl::Span<const float> model, int round, std::stop_token) override {
    LocalUpdate update;
    update.moved = KnownMove(site_, round, model.size());
    update.events = events_;
    update.loss = 2;
    update.users = 10;
    update.ndcg10 = .25;
    return update;
  }

 private:
  std::string site_;
  int64_t events_;
};

// A site without a network and without signatures; the test says when it acts.
class DirectSite {
 public:
  DirectSite(std::string name, int64_t events) : name_(std::move(name)), trainer_(name_, events) {}

  void Join(Coordinator* coordinator) {
    federated::JoinRequest request;
    request.set_protocol(1);
    auto joined = coordinator->Join(name_, request);
    REQUIRE(joined.ok());
    plan_ = joined->plan();
  }

  // What the coordinator wants of it now, done. Answers what it was: "wait", "advertise", "share", "update",
  // "reveal", "finished"; or the error's text.
  std::string Act(Coordinator* coordinator) {
    auto todo = Poll(coordinator);
    if (todo.has_wait()) return "wait";
    if (todo.has_finished()) return "finished";
    const federated::RoundKey& key = todo.key();
    const std::string label =
        key.session() + " " + std::to_string(key.round()) + " " + std::to_string(key.attempt());
    if (todo.has_advertise()) {
      masking_ = *MaskingSite::Make(label);
      federated::AdvertiseKeysRequest request;
      *request.mutable_key() = key;
      request.mutable_keys()->set_sealing_key(std::string(BytesOf(masking_->sealing_key())));
      request.mutable_keys()->set_masking_key(std::string(BytesOf(masking_->masking_key())));
      return Said(coordinator->Advertise(name_, request), "advertise");
    }
    if (todo.has_share()) {
      std::vector<MaskingParticipant> all;
      for (const auto& p : todo.share().participants()) {
        all.push_back({static_cast<uint8_t>(p.place()), p.name(), *KeyFromBytes(p.keys().sealing_key()),
                       *KeyFromBytes(p.keys().masking_key())});
      }
      federated::ShareKeysRequest request;
      *request.mutable_key() = key;
      const auto sealed = *masking_->Share(all, static_cast<uint8_t>(todo.share().place()));
      for (const auto& [to, box] : sealed) (*request.mutable_sealed_shares())[to] = box;
      return Said(coordinator->Share(name_, request), "share");
    }
    if (todo.has_update()) {
      federated::GetModelRequest get;
      get.set_session(key.session());
      get.set_round(key.round());
      model_ = **coordinator->Model(name_, get);
      LocalUpdate update = *trainer_.Train(model_, key.round(), {});
      plain_ = *EncodeUpdate(plan_, &update);
      sent_ = plain_;
      std::map<uint8_t, std::string> sealed;
      for (const auto& [from, box] : todo.update().sealed_shares()) sealed[static_cast<uint8_t>(from)] = box;
      REQUIRE(masking_->Mask(sealed, absl::MakeSpan(sent_)).ok());
      return Said(coordinator->Submit(name_, key, sent_), "update");
    }
    std::vector<uint8_t> survivors;
    for (int place : todo.reveal().survivors()) survivors.push_back(static_cast<uint8_t>(place));
    federated::RevealSharesRequest request;
    *request.mutable_key() = key;
    const auto revealed = *masking_->Reveal(survivors);
    for (const RevealedShare& share : revealed) {
      federated::RevealedShare* out = request.add_shares();
      out->set_owner(share.owner);
      out->set_survived(share.survived);
      out->set_share(std::string(share.share.bytes.begin(), share.share.bytes.end()));
    }
    return Said(coordinator->Reveal(name_, request), "reveal");
  }

  federated::PollResponse Poll(Coordinator* coordinator) {
    federated::PollRequest request;
    request.set_session(plan_.session());
    auto todo = coordinator->Poll(name_, request);
    REQUIRE(todo.ok());
    return *todo;
  }

  const std::string& name() const { return name_; }
  const std::vector<float>& model() const { return model_; }
  const std::vector<uint64_t>& plain() const { return plain_; }  // its last update, encoded
  const std::vector<uint64_t>& sent() const { return sent_; }    // the same as the coordinator got it

 private:
  static std::string Said(const absl::Status& status, const std::string& done) {
    return status.ok() ? done : std::string(status.message());
  }
  std::string name_;
  KnownTrainer trainer_;
  federated::Plan plan_;
  std::optional<MaskingSite> masking_;
  std::vector<float> model_;
  std::vector<uint64_t> plain_, sent_;
};

}  // namespace waymark::tests
