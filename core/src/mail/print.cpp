#include "weigh/mail/print.h"

#include <stdexcept>

namespace weigh::mail {

namespace {

constexpr std::size_t kHead = 8;

void require_rising(const Keys& keys) {
    std::uint64_t before = 0;
    for (std::size_t at = 0; at < keys.size(); ++at) {
        if (keys[at] <= before) throw std::invalid_argument("the keys of a print must rise and be above zero");
        before = keys[at];
    }
}

}  // namespace

Print::Print(std::string_view bytes) {
    if (bytes.size() < kHead) throw std::invalid_argument("a print must begin with two numbers of keys");
    const std::uint64_t headers = load_word(bytes.data(), 4), body = load_word(bytes.data() + 4, 4);
    if (bytes.size() - kHead != 8 * (headers + body))
        throw std::invalid_argument("a print must be as long as its numbers of keys say");
    views_[0] = Keys(bytes.data() + kHead, headers);
    views_[1] = Keys(bytes.data() + kHead + 8 * headers, body);
    for (const Keys& keys : views_) require_rising(keys);
}

}  // namespace weigh::mail
