#include "app/federation_options.h"

#include <CLI/CLI.hpp>
#include <fstream>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace waymark {

void AddCertificateOptions(CLI::App* command, CertificateOptions* options) {
  const char* group = "Certificates (PEM)";
  command->add_option("--ca", options->authority, "of the authority that all of the federation trust")
      ->required()
      ->type_name("FILE")
      ->group(group);
  command->add_option("--cert", options->certificate, "of this program; its common name is its name")
      ->required()
      ->type_name("FILE")
      ->group(group);
  command->add_option("--key", options->key, "private key of --cert")
      ->required()
      ->type_name("FILE")
      ->group(group);
}

absl::StatusOr<TlsIdentity> ReadIdentity(const CertificateOptions& options, TlsRole role) {
  return ReadTlsIdentity({options.authority, options.certificate, options.key}, role);
}

absl::StatusOr<std::vector<std::string>> ReadItemIds(const std::string& file) {
  std::ifstream in(file);
  if (!in) return absl::NotFoundError(absl::StrCat("--items: cannot read ", file));
  std::vector<std::string> ids;
  absl::flat_hash_set<std::string> seen;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    if (!seen.insert(line).second) {
      return absl::InvalidArgumentError(absl::StrCat("--items: ", file, " names '", line, "' twice"));
    }
    ids.push_back(line);
  }
  if (ids.empty()) return absl::InvalidArgumentError(absl::StrCat("--items: ", file, " has no id"));
  return ids;
}

}  // namespace waymark
