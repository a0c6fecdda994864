// A site of a federation: joins, trains when it is drawn, sends masked updates, until the last round. Raw
// events and unmasked updates never leave this process.
//
//   auto result = RunSite(options, [&](const federated::Plan& plan) { return SiteTrainer::Make(...); },
//   stop);
//
// A coordinator that does not answer is tried again for `patience`; a certificate that is refused ends at
// once.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "training/federated/model/site_trainer.h"
#include "training/federated/rpc/tls_identity.h"
#include "waymark/federated/federation.pb.h"

namespace waymark {

struct SiteOptions {
  std::string coordinator;  // HOST:PORT
  TlsIdentity identity;
  std::string program_version;
  // The site gives neither shares nor updates to rounds of fewer sites: the fewer, the more the sum says of
  // each.
  size_t fewest_sites = 3;
  absl::Duration patience = absl::Minutes(10);
  absl::Duration call_timeout = absl::Seconds(60);
};

struct SiteProgress {
  std::string
      what;  // "joined", "waiting", "training", "sent", "revealed", "over": that attempt goes on without it
  int round = 0, rounds = 0;
  std::string detail;
};

struct SiteResult {
  federated::Plan plan;
  std::vector<float> model;
  int rounds = 0, rounds_taken_part = 0;
  double epsilon = 0;
};

using MakeTrainer = std::function<absl::StatusOr<std::unique_ptr<SiteTrainer>>(const federated::Plan&)>;

// UNAVAILABLE: nobody answered for `patience`; UNAUTHENTICATED: a certificate is refused; CANCELLED: stopped;
// what the trainer answers (the coordinator is told that this site withdraws).
absl::StatusOr<SiteResult> RunSite(const SiteOptions& options, const MakeTrainer& make_trainer,
                                   const std::function<void(const SiteProgress&)>& progress,
                                   std::stop_token stop);

// What a site signs of its keys.
std::string KeysToSign(const federated::RoundKey& key, const federated::KeyAdvertisement& keys);

}  // namespace waymark
