#include "weigh/mail/hashed_features.h"

#include <stdexcept>

namespace weigh::mail {

namespace {

constexpr std::size_t kHeaderBytes = 8;

void require_ascending(const Keys& keys) {
    std::uint64_t previous = 0;
    for (std::size_t at = 0; at < keys.size(); ++at) {
        if (keys[at] <= previous) throw std::invalid_argument("the keys of a print must rise and be above zero");
        previous = keys[at];
    }
}

}  // namespace

HashedFeatures::HashedFeatures(std::string_view bytes) {
    if (bytes.size() < kHeaderBytes) throw std::invalid_argument("a print must begin with two numbers of keys");
    const std::uint64_t headers = load_word(bytes.data(), 4), body = load_word(bytes.data() + 4, 4);
    if (bytes.size() - kHeaderBytes != 8 * (headers + body))
        throw std::invalid_argument("a print must be as long as its numbers of keys say");
    views_[0] = Keys(bytes.data() + kHeaderBytes, headers);
    views_[1] = Keys(bytes.data() + kHeaderBytes + 8 * headers, body);
    for (const Keys& keys : views_) require_ascending(keys);
}

}  // namespace weigh::mail
