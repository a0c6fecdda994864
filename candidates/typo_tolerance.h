// Which words of a query also stand for words that are written almost the same (docs/queries.md).
#pragma once

namespace waymark {

enum class TypoTolerance {
  kAuto,    // words that no item has, and rare ones beside which a far more frequent one stands
  kOff,     // none, but where the query asks for it: word~
  kAlways,  // every word
};

}  // namespace waymark
