// Loops for which the widest vector instructions of the machine are chosen when the program starts.
#pragma once

#include <cstdlib>  // tells the library by its name

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define WEIGH_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WEIGH_WIDE
#endif
