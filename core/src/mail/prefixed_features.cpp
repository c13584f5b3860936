#include "ascii.h"
#include "feature_views.h"
#include "words.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMostLabels = 5;   // of a domain that is told with a host
constexpr std::size_t kRunsFrom = 4000;  // bytes, blanks as one

}  // namespace

void Prefixed::add_words(std::string_view text) {
    Words words(text, arena_);
    for (std::string_view word; words.next(word);) add(word);
}

void Prefixed::add_host(std::string_view host) {
    add(host);
    std::size_t dot = host.rfind('.');
    for (std::size_t labels = 2; labels <= kMostLabels && dot != kNowhere && dot > 0; ++labels) {
        dot = host.rfind('.', dot - 1);
        if (dot != kNowhere) add(host.substr(dot + 1));
    }
}

void Prefixed::add_machine(std::string_view address) {
    add(address);
    std::size_t dot = address.find('.');
    for (std::size_t numbers = 2; numbers <= 3 && dot != kNowhere; ++numbers) {
        dot = address.find('.', dot + 1);
        if (dot != kNowhere) add(address.substr(0, dot));
    }
}

void Prefixed::add_runs(std::string_view text, std::size_t size) {
    spaced_.clear();
    for (const char c : text.substr(0, kLookedAt)) {
        if (!is_space(c)) spaced_ += c;
        else if (!spaced_.empty() && spaced_.back() != ' ') spaced_ += ' ';
    }
    const std::string_view whole = std::string_view(spaced_).substr(0, kRunsFrom);
    for (std::size_t at = 0; at + size <= whole.size(); ++at) add(whole.substr(at, size));
}

}  // namespace weigh::mail
