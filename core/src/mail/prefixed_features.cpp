#include <algorithm>

#include "ascii.h"
#include "feature_views.h"
#include "words.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMostLabels = 5;   // of a domain that a host is in
constexpr std::size_t kRunsFrom = 4000;  // bytes

}  // namespace

void Prefixed::add_words(std::string_view text) {
    Words words(text, arena_);
    for (std::string_view word; words.next(word);) add(word);
}

void Prefixed::add_host(std::string_view host, bool is_numeric) {
    add(host);
    if (is_numeric) {
        for (std::size_t dot = host.rfind('.'); dot != host.npos && dot > 0; dot = host.rfind('.', dot - 1)) add(host.substr(0, dot));
        return;
    }
    std::size_t dot = host.rfind('.'), labels = 1;
    while (dot != host.npos && dot > 0 && labels < kMostLabels) {
        dot = host.rfind('.', dot - 1);
        if (dot != host.npos) add(host.substr(dot + 1));
        ++labels;
    }
}

void Prefixed::add_runs(std::string_view text, std::size_t size) {
    spaced_.clear();
    for (const char c : text.substr(0, 4 * kRunsFrom)) {
        if (!is_space(c)) spaced_ += c;
        else if (!spaced_.empty() && spaced_.back() != ' ') spaced_ += ' ';
    }
    const std::string_view whole = std::string_view(spaced_).substr(0, kRunsFrom);
    for (std::size_t at = 0; at + size <= whole.size(); ++at) add(whole.substr(at, size));
}

}  // namespace weigh::mail
