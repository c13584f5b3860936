#include <algorithm>
#include <array>

#include "ascii.h"
#include "feature_views.h"
#include "words.h"
#include "written.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kLongestName = 40;  // bytes of a header's name

constexpr std::array<std::string_view, 3> kSenders{"from", "reply-to", "return-path"};

// What stands before the first ';' that is not in a comment.
std::string_view before_date(std::string_view value) {
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

// Replace `out` by the tags of a signature that say who has signed.
void keep_signer(std::string_view value, std::string& out) {
    out.clear();
    while (!value.empty()) {
        const std::string_view tag = value.substr(0, value.find(';'));
        value.remove_prefix(std::min(tag.size() + 1, value.size()));
        const std::string_view name = trimmed(tag.substr(0, tag.find('=')));
        if (name != "d" && name != "s") continue;
        out += tag;
        out += ';';
    }
}

// A header's value without the day and hour: they never come back, and where ham and spam were gathered in
// different weeks they would tell one from the other. `held` is room for it.
std::string_view timeless(const Header& header, std::string& held) {
    const std::string_view name = header.name;
    if (name == "date" || name.ends_with("-date") || name == "x-originalarrivaltime") return {};
    if (name == "received" || name == "x-received") return before_date(header.value);
    if (!is_signature(name)) return header.value;
    keep_signer(header.value, held);
    return held;
}

// Four numbers between dots.
bool is_machine(std::string_view word) {
    return word.size() <= 15 && std::all_of(word.begin(), word.end(), [](char c) { return is_digit(c) || c == '.'; }) &&
           std::count(word.begin(), word.end(), '.') == 3;
}

}  // namespace

void HeaderFeatures::read(const Message& message) {
    arena_.clear();
    names_.begin("flag:");
    for (std::size_t i = 0; i < kFlags; ++i) {
        const Flag flag = static_cast<Flag>(i);
        if (is_of_headers(flag) && message.flags.has(flag)) names_.add(kFlagNames[i]);
    }
    before_.clear();
    for (const Header& header : message.headers)
        if (!is_written(header.name)) add_header(header);
    if (characters_ > 0) add_runs(message);
}

void HeaderFeatures::add_header(const Header& header) {
    scratch_ = header.name;
    cut_at(scratch_, kLongestName);
    names_.begin("has:");
    names_.add(scratch_);
    if (scratch_ != before_) {
        names_.begin("order:");
        if (!before_.empty()) names_.add(before_ + ' ' + scratch_);
        before_ = scratch_;
    }
    if (std::find(kSenders.begin(), kSenders.end(), header.name) != kSenders.end()) add_domains(header.value);
    scratch_ += ':';
    names_.begin(scratch_);
    pairs_.begin(scratch_);
    add_words(timeless(header, held_));
}

void HeaderFeatures::add_words(std::string_view value) {
    Words words(value, arena_);
    for (std::string_view word; !set.is_full() && words.next(word);) {
        if (is_machine(word)) names_.add_machine(word);
        else names_.add(word);
        pairs_.take(word, set);
    }
}

// Behind every '@' there is a domain.
void HeaderFeatures::add_domains(std::string_view value) {
    names_.begin("domain:");
    for (std::size_t at = value.find('@'); at != kNowhere; at = value.find('@', at)) {
        const std::size_t begin = ++at;
        while (at < value.size() && is_of_host(value[at])) ++at;
        std::string_view found = value.substr(begin, std::min(at - begin, kLongestHost));
        while (found.ends_with('.')) found.remove_suffix(1);
        if (found.empty()) continue;
        host_ = found;
        make_lower(host_);
        names_.add_host(host_);
    }
}

void HeaderFeatures::add_runs(const Message& message) {
    scratch_.clear();
    for (const Header& header : message.headers) {
        if (scratch_.size() > Prefixed::kLookedAt) break;
        if (is_written(header.name)) continue;
        scratch_ += header.name;
        scratch_ += ": ";
        scratch_ += timeless(header, held_);
        scratch_ += '\n';
    }
    names_.begin("chars:");
    names_.add_runs(scratch_, characters_);
}

}  // namespace weigh::mail
