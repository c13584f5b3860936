// Counted assertions; each test program prints how many passed and failed.
#pragma once

#include <cstdio>
#include <random>

inline int passed = 0, failed = 0;

inline void expect(bool is_true, const char* claim, int line) {
    if (!is_true) std::printf("line %d: %s\n", line, claim);
    ++(is_true ? passed : failed);
}
#define EXPECT(claim) expect((claim), #claim, __LINE__)

// Print the totals; return the exit code of the test program.
inline int report() {
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

using Random = std::mt19937_64;
