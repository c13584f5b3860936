#include <algorithm>
#include <array>

#include "ascii.h"
#include "feature_views.h"
#include "word_splitter.h"
#include "annotation_headers.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMaxNameBytes = 40;

constexpr std::array<std::string_view, 3> kSenders{"from", "reply-to", "return-path"};

// The part before the first ';' outside comments.
std::string_view strip_received_date(std::string_view value) {
    int depth = 0;
    for (std::size_t at = 0; at < value.size(); ++at) {
        if (value[at] == '(') ++depth;
        else if (value[at] == ')' && depth > 0) --depth;
        else if (value[at] == ';' && depth == 0) return value.substr(0, at);
    }
    return value;
}

bool is_signature(std::string_view name) {
    return name.ends_with("dkim-signature") || name == "domainkey-signature" || name == "arc-message-signature" ||
           name == "arc-seal";
}

// Replace `out` by the signature tags that identify the signer.
void select_signer_tags(std::string_view value, std::string& out) {
    out.clear();
    while (!value.empty()) {
        const std::string_view tag = value.substr(0, value.find(';'));
        value.remove_prefix(std::min(tag.size() + 1, value.size()));
        const std::string_view name = trim(tag.substr(0, tag.find('=')));
        if (name != "d" && name != "s") continue;
        out += tag;
        out += ';';
    }
}

// A header value without dates: dates never recur, and if ham and spam were collected in different weeks they would
// leak the label. `scratch` may hold the result.
std::string_view without_date(const Header& header, std::string& scratch) {
    const std::string_view name = header.name;
    if (name == "date" || name.ends_with("-date") || name == "x-originalarrivaltime") return {};
    if (name == "received" || name == "x-received") return strip_received_date(header.value);
    if (!is_signature(name)) return header.value;
    select_signer_tags(header.value, scratch);
    return scratch;
}

// Four numbers separated by dots.
bool is_ip_address(std::string_view word) {
    return word.size() <= 15 && std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; }) &&
           std::count(word.begin(), word.end(), '.') == 3;
}

}  // namespace

void HeaderFeatures::read(const Message& message) {
    arena_.clear();
    names_.begin("flag:");
    for (std::size_t i = 0; i < kFlags; ++i) {
        const Flag flag = static_cast<Flag>(i);
        if (is_header_flag(flag) && message.flags.has(flag)) names_.add(kFlagNames[i]);
    }
    previous_name_.clear();
    for (const Header& header : message.headers)
        if (!is_annotation_header(header.name)) add_header(header);
    if (characters_ > 0) add_character_ngrams(message);
}

void HeaderFeatures::add_header(const Header& header) {
    scratch_ = header.name;
    truncate_utf8(scratch_, kMaxNameBytes);
    names_.begin("has:");
    names_.add(scratch_);
    if (scratch_ != previous_name_) {
        names_.begin("order:");
        if (!previous_name_.empty()) names_.add(previous_name_ + ' ' + scratch_);
        previous_name_ = scratch_;
    }
    if (std::find(kSenders.begin(), kSenders.end(), header.name) != kSenders.end()) add_domains(header.value);
    scratch_ += ':';
    names_.begin(scratch_);
    pairs_.begin(scratch_);
    add_words(without_date(header, value_scratch_));
}

void HeaderFeatures::add_words(std::string_view value) {
    WordSplitter words(value, arena_);
    for (std::string_view word; !set.is_full() && words.next(word);) {
        if (is_ip_address(word)) names_.add_ip_address(word);
        else names_.add(word);
        pairs_.add(word, set);
    }
}

// Every '@' is followed by a domain.
void HeaderFeatures::add_domains(std::string_view value) {
    names_.begin("domain:");
    for (std::size_t at = value.find('@'); at != kNotFound; at = value.find('@', at)) {
        const std::size_t begin = ++at;
        while (at < value.size() && is_host_character(value[at])) ++at;
        std::string_view found = value.substr(begin, std::min(at - begin, kMaxHostBytes));
        while (found.ends_with('.')) found.remove_suffix(1);
        if (found.empty()) continue;
        host_ = found;
        lower_in_place(host_);
        names_.add_host(host_);
    }
}

void HeaderFeatures::add_character_ngrams(const Message& message) {
    scratch_.clear();
    for (const Header& header : message.headers) {
        if (scratch_.size() > PrefixedFeatures::kMaxScannedBytes) break;
        if (is_annotation_header(header.name)) continue;
        scratch_ += header.name;
        scratch_ += ": ";
        scratch_ += without_date(header, value_scratch_);
        scratch_ += '\n';
    }
    names_.begin("chars:");
    names_.add_character_ngrams(scratch_, characters_);
}

}  // namespace weigh::mail
