#include "ascii.h"
#include "feature_views.h"
#include "word_splitter.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMaxLabels = 5;         // maximum labels of parent domains
constexpr std::size_t kMaxNgramBytes = 4000;  // bytes after collapsing white space

}  // namespace

void PrefixedFeatures::add_words(std::string_view text) {
    WordSplitter words(text, arena_);
    for (std::string_view word; words.next(word);) add(word);
}

void PrefixedFeatures::add_host(std::string_view host) {
    add(host);
    std::size_t dot = host.rfind('.');
    for (std::size_t labels = 2; labels <= kMaxLabels && dot != kNotFound && dot > 0; ++labels) {
        dot = host.rfind('.', dot - 1);
        if (dot != kNotFound) add(host.substr(dot + 1));
    }
}

void PrefixedFeatures::add_ip_address(std::string_view address) {
    add(address);
    std::size_t dot = address.find('.');
    for (std::size_t numbers = 2; numbers <= 3 && dot != kNotFound; ++numbers) {
        dot = address.find('.', dot + 1);
        if (dot != kNotFound) add(address.substr(0, dot));
    }
}

void PrefixedFeatures::add_character_ngrams(std::string_view text, std::size_t size) {
    spaced_.clear();
    for (const char c : text.substr(0, kMaxScannedBytes)) {
        if (!is_space(c)) spaced_ += c;
        else if (!spaced_.empty() && spaced_.back() != ' ') spaced_ += ' ';
    }
    const std::string_view whole = std::string_view(spaced_).substr(0, kMaxNgramBytes);
    for (std::size_t at = 0; at + size <= whole.size(); ++at) add(whole.substr(at, size));
}

}  // namespace weigh::mail
