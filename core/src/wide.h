// Loops compiled for several instruction sets; the widest one that the CPU supports is chosen at load time.
#pragma once

#include <cstdlib>  // defines __GLIBC__

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define WEIGH_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WEIGH_WIDE
#endif
