#include <cstdio>

#include "tests/support/skip.h"
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  const int failed = Catch::Session().run(argc, argv);
  for (const std::string& reason : waymark::tests::Skipped()) std::printf("skipped: %s\n", reason.c_str());
  return failed == 0 ? 0 : 1;
}
