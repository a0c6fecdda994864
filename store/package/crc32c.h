// CRC-32C (Castagnoli, RFC 3720), and its masked form of TFRecord files and logs: a checksum of data that
// itself holds checksums would otherwise be a weak one.
#pragma once
#include <cstdint>
#include <string_view>

namespace waymark {

uint32_t Crc32c(std::string_view bytes);
// Rotated right by 15 bits, plus a constant (tensorflow/core/lib/hash/crc32c.h).
uint32_t MaskedCrc32c(std::string_view bytes);

}  // namespace waymark
