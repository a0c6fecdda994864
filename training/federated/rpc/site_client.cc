#include "training/federated/rpc/site_client.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "training/federated/rounds/update_words.h"
#include "training/federated/rpc/coordinator_stub.h"
#include "training/federated/secure/masking_site.h"

namespace waymark {
namespace {

std::string LabelOf(const federated::RoundKey& key) {
  return absl::StrCat(key.session(), " ", key.round(), " ", key.attempt());
}

class Site {
 public:
  Site(const SiteOptions& options, const std::function<void(const SiteProgress&)>& progress,
       std::stop_token stop)
      : options_(options), progress_(progress), stop_(stop), stub_(options, stop) {}

  absl::StatusOr<SiteResult> Run(const MakeTrainer& make_trainer) {
    if (auto status = Join(); !status.ok()) return status;
    auto layout = ExchangedLayout::Of(result_.plan);
    if (!layout.ok()) return layout.status();
    numbers_ = layout->total();
    auto trainer = make_trainer(result_.plan);
    if (!trainer.ok()) return trainer.status();
    trainer_ = *std::move(trainer);
    while (true) {
      auto todo = stub_.Poll(result_.plan.session());
      if (absl::IsNotFound(todo.status())) {  // the coordinator was restarted
        if (auto status = Join(); !status.ok()) return status;
        continue;
      }
      if (!todo.ok()) return todo.status();
      if (todo->has_finished()) return Finish(*todo);
      absl::Status status = Do(*todo);
      // An answer was lost on its way, and the call made twice.
      if (absl::IsAlreadyExists(status)) status = absl::OkStatus();
      if (absl::IsFailedPrecondition(status)) {
        // The round goes on without this site, or this site not with the round: the next one may do.
        Say("over", todo->key().round(), std::string(status.message()));
        stub_.Withdraw(todo->key(), std::string(status.message()));
        masking_.reset();
        status = absl::OkStatus();
      }
      if (!status.ok()) {
        if (!absl::IsUnavailable(status)) stub_.Withdraw(todo->key(), std::string(status.message()));
        return status;
      }
      const auto pause =
          std::clamp(absl::Milliseconds(todo->retry_after_ms()), absl::Milliseconds(1), absl::Minutes(1));
      if (auto slept = stub_.Sleep(pause); !slept.ok()) return slept;
    }
  }

 private:
  absl::Status Join() {
    auto joined = stub_.Join();
    if (!joined.ok()) return joined.status();
    const bool again = !result_.plan.session().empty();
    if (again && joined->plan().session() != result_.plan.session()) {
      return absl::FailedPreconditionError(
          "the coordinator has begun another federation than this site joined; start the site anew");
    }
    result_.plan = joined->plan();
    masking_.reset();
    Say("joined", 0, again ? "again" : absl::StrCat("session ", result_.plan.session()));
    return absl::OkStatus();
  }

  absl::Status Do(const federated::PollResponse& todo) {
    if (todo.has_advertise()) return Advertise(todo.key());
    if (todo.has_wait()) return absl::OkStatus();
    if (!masking_ || LabelOf(todo.key()) != label_) {
      return absl::FailedPreconditionError("the coordinator asks for a round that this site has no keys of");
    }
    if (todo.has_share()) return Share(todo.key(), todo.share());
    if (todo.has_update()) return Update(todo.key(), todo.update());
    if (todo.has_reveal()) return Reveal(todo.key(), todo.reveal());
    return absl::UnimplementedError(
        "the coordinator asks for something that this program does not know; update it");
  }

  absl::Status Advertise(const federated::RoundKey& key) {
    label_ = LabelOf(key);
    auto masking = MaskingSite::Make(label_);
    if (!masking.ok()) return masking.status();
    masking_ = *std::move(masking);
    federated::AdvertiseKeysRequest request;
    *request.mutable_key() = key;
    request.mutable_keys()->set_sealing_key(std::string(BytesOf(masking_->sealing_key())));
    request.mutable_keys()->set_masking_key(std::string(BytesOf(masking_->masking_key())));
    auto signature = SignWith(options_.identity, KeysToSign(key, request.keys()));
    if (!signature.ok()) return signature.status();
    request.mutable_keys()->set_certificate(options_.identity.certificate_pem);
    request.mutable_keys()->set_signature(*signature);
    return stub_.AdvertiseKeys(request);
  }

  absl::Status CheckSigned(const federated::RoundKey& key, const federated::Participant& participant) const {
    auto signer = VerifySigned(options_.identity, participant.keys().certificate(),
                               KeysToSign(key, participant.keys()), participant.keys().signature());
    if (signer.ok() && *signer == participant.name()) return absl::OkStatus();
    return absl::PermissionDeniedError(absl::StrCat(
        "the keys that the coordinator shows for site '", participant.name(), "' are not that site's: ",
        signer.ok() ? absl::StrCat("'", *signer, "' signed them") : std::string(signer.status().message())));
  }

  absl::Status Share(const federated::RoundKey& key, const federated::PollResponse::Share& share) {
    const size_t sites = share.participants_size();
    if (sites < options_.fewest_sites) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the round has ", sites, " sites, and this one takes part from ", options_.fewest_sites, " on"));
    }
    std::map<std::string, bool> names;
    std::vector<MaskingParticipant> participants;
    for (const federated::Participant& participant : share.participants()) {
      if (auto status = CheckSigned(key, participant); !status.ok()) return status;
      if (!names.emplace(participant.name(), true).second || participant.place() < 1 ||
          participant.place() > 255) {
        return absl::PermissionDeniedError(
            absl::StrCat("the coordinator lists site '", participant.name(), "' twice, or at no place"));
      }
      participants.push_back({static_cast<uint8_t>(participant.place()), participant.name(),
                              *KeyFromBytes(participant.keys().sealing_key()),
                              *KeyFromBytes(participant.keys().masking_key())});
    }
    auto sealed = masking_->Share(std::move(participants), static_cast<uint8_t>(share.place()));
    if (!sealed.ok()) return sealed.status();
    federated::ShareKeysRequest request;
    *request.mutable_key() = key;
    for (auto& [to, box] : *sealed) (*request.mutable_sealed_shares())[to] = std::move(box);
    return stub_.ShareKeys(request);
  }

  absl::Status Update(const federated::RoundKey& key, const federated::PollResponse::Update& update) {
    auto model = stub_.GetModel(key, numbers_);
    if (!model.ok()) return model.status();
    Say("training", key.round(), "");
    auto trained = trainer_->Train(*model, key.round(), stop_);
    if (!trained.ok()) return trained.status();
    if (trained->moved.size() != numbers_) return absl::InternalError("the trainer answers another model");
    auto words = EncodeUpdate(result_.plan, &*trained);
    if (!words.ok()) return words.status();
    std::map<uint8_t, std::string> sealed;
    for (const auto& [from, box] : update.sealed_shares()) sealed[static_cast<uint8_t>(from)] = box;
    if (sealed.size() + 1 < options_.fewest_sites) {
      return absl::FailedPreconditionError(
          absl::StrCat("only ", sealed.size() + 1, " sites are left in the round"));
    }
    if (auto status = masking_->Mask(sealed, absl::MakeSpan(*words)); !status.ok()) return status;
    if (auto status = stub_.SubmitUpdate(key, *words); !status.ok()) return status;
    ++result_.rounds_taken_part;
    std::string detail = absl::StrFormat("loss %.4f, %d events", trained->loss, trained->events);
    if (trained->users > 0) absl::StrAppendFormat(&detail, ", nDCG@10 before %.4f", trained->ndcg10);
    Say("sent", key.round(), detail);
    return absl::OkStatus();
  }

  absl::Status Reveal(const federated::RoundKey& key, const federated::PollResponse::Reveal& reveal) {
    std::vector<uint8_t> survivors;
    for (int place : reveal.survivors()) survivors.push_back(static_cast<uint8_t>(std::clamp(place, 0, 255)));
    if (survivors.size() < options_.fewest_sites) {
      return absl::FailedPreconditionError(absl::StrCat(
          "only ", survivors.size(), " sites are left in the round, and this one takes the masks off from ",
          options_.fewest_sites, " on"));
    }
    auto shares = masking_->Reveal(survivors);
    if (!shares.ok()) return shares.status();
    federated::RevealSharesRequest request;
    *request.mutable_key() = key;
    for (const RevealedShare& share : *shares) {
      federated::RevealedShare* out = request.add_shares();
      out->set_owner(share.owner);
      out->set_survived(share.survived);
      out->set_share(std::string(share.share.bytes.begin(), share.share.bytes.end()));
    }
    auto status = stub_.RevealShares(request);
    if (status.ok()) Say("revealed", key.round(), absl::StrCat(survivors.size(), " sites in the sum"));
    return status;
  }

  absl::StatusOr<SiteResult> Finish(const federated::PollResponse& todo) {
    auto model = stub_.GetModel(todo.key(), numbers_);
    if (!model.ok()) return model.status();
    result_.model = *std::move(model);
    result_.rounds = todo.finished().rounds();
    result_.epsilon = todo.finished().epsilon();
    return std::move(result_);
  }

  void Say(const std::string& what, int round, std::string detail) const {
    if (progress_) progress_({what, round, result_.plan.rounds(), std::move(detail)});
  }

  const SiteOptions& options_;
  const std::function<void(const SiteProgress&)>& progress_;
  std::stop_token stop_;
  CoordinatorStub stub_;
  SiteResult result_;
  size_t numbers_ = 0;
  std::unique_ptr<SiteTrainer> trainer_;
  std::string label_;
  std::optional<MaskingSite> masking_;
};

}  // namespace

std::string KeysToSign(const federated::RoundKey& key, const federated::KeyAdvertisement& keys) {
  return absl::StrCat("waymark federated keys ", LabelOf(key), " ", keys.sealing_key(), keys.masking_key());
}

absl::StatusOr<SiteResult> RunSite(const SiteOptions& options, const MakeTrainer& make_trainer,
                                   const std::function<void(const SiteProgress&)>& progress,
                                   std::stop_token stop) {
  return Site(options, progress, stop).Run(make_trainer);
}

}  // namespace waymark
