// Claims that are counted: each test program ends by telling how many held.
#pragma once

#include <cstdio>
#include <random>

inline int passed = 0, failed = 0;

inline void expect(bool holds, const char* claim, int line) {
    if (!holds) std::printf("line %d: %s\n", line, claim);
    ++(holds ? passed : failed);
}
#define EXPECT(claim) expect((claim), #claim, __LINE__)

// What a test program returns.
inline int told() {
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}

using Random = std::mt19937_64;
