// Numbers for values: the first distinct value gets code 0, the next new one 1, and so on.
#pragma once

#include <vector>

#include "weigh/views.h"

namespace weigh {

struct Encoded {
    std::vector<std::int32_t> codes;     // one per key
    std::vector<std::int64_t> distinct;  // in order of first appearance
};

Encoded encode_keys(Strided<std::int64_t> keys);

}  // namespace weigh
