#include "weigh/mail/links.h"

#include <algorithm>
#include <array>

#include "ascii.h"
#include "weigh/mail/charset.h"
#include "weigh/unicode.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kLongestUrl = 2048;

constexpr std::array<std::string_view, 3> kSchemes{"http", "https", "ftp"};

bool is_scheme(std::string_view text) {
    return std::any_of(kSchemes.begin(), kSchemes.end(), [&](std::string_view each) { return same(text, each); });
}

// Where the host of an address ends, from `at` on.
std::size_t end_of_host(std::string_view url, std::size_t at) {
    while (at < url.size() && url[at] != '/' && url[at] != '\\' && url[at] != '?' && url[at] != '#') ++at;
    return at;
}

bool is_slash(char c) { return c == '/' || c == '\\'; }

// What ends an address in a text: spaces, brackets, quotes, anything beyond ASCII.
bool ends_address(char c) {
    return static_cast<signed char>(c) <= ' ' || c == '<' || c == '>' || c == '"' || c == '`' || c == 0x7F;
}

bool may_be_of_host(char c) { return is_of_host(c) || c == '_' || (c & 0x80) != 0; }

bool is_number(std::string_view label) {
    if (label.size() <= 2 || !label.starts_with("0x")) return std::all_of(label.begin(), label.end(), is_digit);
    return std::all_of(label.begin() + 2, label.end(), [](char c) { return hex(c) >= 0; });
}

// Four numbers, one large number, hexadecimal ones, or one in brackets.
bool is_numeric(std::string_view host) {
    if (host.starts_with("[")) return true;
    for (std::size_t dot; (dot = host.find('.')) != kNowhere; host.remove_prefix(dot + 1))
        if (!is_number(host.substr(0, dot))) return false;
    return is_number(host);
}

std::string_view without_www(std::string_view host) { return starts(host, "www.") ? host.substr(4) : host; }

// Where the last label of a text begins; zero if it is the only one.
std::size_t last_label(std::string_view text) { return text.rfind('.') + 1; }

// What countries have domains below, as in "co.uk".
constexpr std::array<std::string_view, 14> kBelow{"ac", "co",  "com", "edu", "go",  "gob", "gov",
                                                  "gv", "ltd", "ne",  "net", "nom", "or",  "org"};

// Whether a host ends as in "co.uk" and has a label more.
bool is_of_country(std::string_view host) {
    const std::size_t last = last_label(host);
    if (last == 0 || host.size() - last != 2 || !is_letter(host[last]) || !is_letter(host[last + 1])) return false;
    const std::size_t second = last_label(host.substr(0, last - 1));
    const std::string_view label = host.substr(second, last - 1 - second);
    return second > 1 &&
           std::any_of(kBelow.begin(), kBelow.end(), [&](std::string_view each) { return same(label, each); });
}

// The last labels of a host: two, or three where the last two are a country's.
std::string_view domain(std::string_view host) {
    std::size_t begin = host.size() + 1;
    for (int labels = is_of_country(host) ? 3 : 2; labels > 0 && begin > 0; --labels)
        begin = last_label(host.substr(0, begin - 1));
    return host.substr(begin);
}

constexpr std::array<std::string_view, 7> kEnds{"com", "net", "org", "info", "biz", "gov", "edu"};

// Whether a text that begins with no "http" and no "www" can be a host nevertheless. Two letters at its end
// may be a country's, but also those of a file: "node.js", "readme.md".
bool looks_like_host(std::string_view text) {
    const std::size_t last = last_label(text);
    if (last < 2) return false;
    if (is_of_country(text)) return true;
    const std::string_view end = text.substr(last);
    return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view each) { return same(end, each); });
}

// The host that a text shows at its start or behind "http://"; empty if it shows none.
std::string_view shown_host(std::string_view text) {
    text = trimmed(text);
    const std::size_t mark = text.find("://");
    const bool is_told = mark != kNowhere || starts(text, "www.");
    if (mark != kNowhere) text.remove_prefix(mark + 3);
    const auto end = std::find_if_not(text.begin(), text.end(), may_be_of_host);
    std::string_view host = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    while (!host.empty() && host.back() == '.') host.remove_suffix(1);
    if (host.find('.') == kNowhere) return {};
    if (is_told) return host;
    const bool is_whole = end == text.end() || *end == '/';
    return is_whole && looks_like_host(host) ? host : std::string_view{};
}

}  // namespace

std::size_t Links::add(std::string_view url, Origin origin) {
    url = trimmed(url).substr(0, kLongestUrl);
    url_.clear();
    for (const char c : url)
        if (c != '\t' && c != '\r' && c != '\n') url_.push_back(c);
    url = url_;
    const std::size_t colon = url.find(':');
    const std::string_view scheme = url.substr(0, std::min(colon, url.size()));
    if (same(scheme, "javascript") || same(scheme, "vbscript")) message_.flags.set(Flag::javascript_link);
    if (same(scheme, "data")) message_.flags.set(Flag::data_link);
    if (same(scheme, "mailto")) {
        const std::string_view address = url.substr(colon + 1, url.find_first_of("?,", colon + 1) - colon - 1);
        const std::size_t sign = address.rfind('@');
        return sign == kNowhere ? kNone : store(url, address.substr(sign + 1), origin);
    }
    std::size_t begin = is_scheme(scheme) ? colon + 1 : 0;
    if (begin == 0 && !(url.size() > 1 && is_slash(url[0]) && is_slash(url[1]))) return kNone;
    while (begin < url.size() && is_slash(url[begin])) ++begin;
    return store(url, url.substr(begin, end_of_host(url, begin) - begin), origin);
}

std::size_t Links::store(std::string_view url, std::string_view authority, Origin origin) {
    Link link;
    link.origin = origin;
    if (const std::size_t sign = authority.rfind('@'); sign != kNowhere) {
        authority.remove_prefix(sign + 1);
        link.set(Trait::userinfo);
    }
    const std::size_t bracket = authority.rfind(']');
    if (const std::size_t colon = authority.find(':', bracket == kNowhere ? 0 : bracket); colon != kNowhere) {
        if (colon + 1 < authority.size()) link.set(Trait::port);
        authority = authority.substr(0, colon);
    }
    host_.clear();
    append_unpercent(authority.substr(0, kLongestHost), host_);
    if (host_.size() != std::min(authority.size(), kLongestHost)) link.set(Trait::escaped);
    const auto is_unfit = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    host_.erase(std::find_if(host_.begin(), host_.end(), is_unfit), host_.end());
    while (!host_.empty() && host_.back() == '.') host_.pop_back();
    if (host_.empty()) return kNone;
    if (message_.links.size() >= most_) {
        message_.flags.set(Flag::cut_links);
        return kNone;
    }
    if (is_ascii(host_)) {
        make_lower(host_);
    } else {
        link.set(Trait::unicode);
        folded_.clear();
        append_utf8(host_, folded_);
        unicode::fold(folded_, {true, false}, host_);
    }
    if (is_numeric(host_)) link.set(Trait::numeric);
    if (host_.starts_with("xn--") || host_.find(".xn--") != kNowhere) link.set(Trait::punycode);
    folded_.clear();
    append_utf8(url, folded_);  // a cut may have gone through a character
    link.url = message_.arena.keep(folded_);
    link.host = message_.arena.keep(host_);
    message_.links.push_back(link);
    return message_.links.size() - 1;
}

// Add the address whose scheme begins at `begin` and whose host at `host`, and return where it ends.
std::size_t Links::add_text(std::string_view text, std::size_t begin, std::size_t host) {
    std::size_t end = host;
    while (end < text.size() && !ends_address(text[end])) ++end;
    const std::size_t behind = end;
    while (end > host && std::string_view(".,;:!?)'*]}").find(text[end - 1]) != kNowhere) --end;
    const std::string_view url = text.substr(begin, std::min(end - begin, kLongestUrl));
    if (starts(url, "mailto:")) {
        add(url, Origin::text);
        return behind;
    }
    const std::string_view rest = url.substr(std::min(host - begin, url.size()));
    store(url, rest.substr(0, end_of_host(rest, 0)), Origin::text);
    return behind;
}

void Links::scan(std::string_view text) {
    const auto next = [&](char c, std::size_t from) { return std::min(text.find(c, from), text.size()); };
    std::size_t at = 0, colon = next(':', 0), dot = next('.', 0);
    while (std::min(colon, dot) < text.size() && !message_.flags.has(Flag::cut_links)) {
        const std::size_t sign = std::min(colon, dot);
        std::size_t begin = sign, behind = sign + 1;
        while (begin > at && sign - begin < 7 && is_letter(text[begin - 1])) --begin;
        const std::string_view word = text.substr(begin, sign - begin);
        if (sign == dot && same(word, "www") && behind < text.size() && is_alphanumeric(text[behind]))
            behind = add_text(text, begin, begin);
        else if (sign == colon && is_scheme(word) && text.substr(behind, 2) == "//")
            behind = add_text(text, begin, behind + 2);
        else if (sign == colon && same(word, "mailto")) behind = add_text(text, begin, behind);
        at = behind;
        if (colon < at) colon = next(':', at);
        if (dot < at) dot = next('.', at);
    }
}

void Links::compare(std::size_t link, std::string_view shown) {
    const std::string_view told = shown_host(shown);
    if (told.empty() || link >= message_.links.size()) return;
    host_ = told;
    make_lower(host_);
    const std::string_view a = domain(without_www(host_)), b = domain(without_www(message_.links[link].host));
    if (a == b || starts(message_.links[link].url, "mailto:")) return;
    message_.links[link].set(Trait::disguised);
    message_.flags.set(Flag::disguised_link);
}

}  // namespace weigh::mail
