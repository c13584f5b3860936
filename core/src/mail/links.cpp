#include "weigh/mail/links.h"

#include <algorithm>
#include <array>

#include "ascii.h"
#include "weigh/mail/charset.h"
#include "weigh/unicode.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kMaxUrlBytes = 2048;

constexpr std::array<std::string_view, 3> kSchemes{"http", "https", "ftp"};

bool is_scheme(std::string_view text) {
    return std::any_of(kSchemes.begin(), kSchemes.end(),
                       [&](std::string_view each) { return equals_ignore_case(text, each); });
}

// The end of the host of a URL, searching from `at`.
std::size_t host_end(std::string_view url, std::size_t at) {
    while (at < url.size() && url[at] != '/' && url[at] != '\\' && url[at] != '?' && url[at] != '#') ++at;
    return at;
}

bool is_slash(char c) { return c == '/' || c == '\\'; }

// Characters that end a URL in text: white space, brackets, quotes, non-ASCII.
bool ends_url(char c) {
    return static_cast<signed char>(c) <= ' ' || c == '<' || c == '>' || c == '"' || c == '`' || c == 0x7F;
}

bool may_be_in_host(char c) { return is_host_character(c) || c == '_' || (c & 0x80) != 0; }

bool is_number(std::string_view label) {
    if (label.size() <= 2 || !label.starts_with("0x")) return std::all_of(label.begin(), label.end(), is_digit);
    return std::all_of(label.begin() + 2, label.end(), [](char c) { return hex(c) >= 0; });
}

// An IPv4 address in any notation, or a bracketed IPv6 address.
bool is_numeric(std::string_view host) {
    if (host.starts_with("[")) return true;
    for (std::size_t dot; (dot = host.find('.')) != kNotFound; host.remove_prefix(dot + 1))
        if (!is_number(host.substr(0, dot))) return false;
    return is_number(host);
}

std::string_view without_www(std::string_view host) {
    return starts_with_ignore_case(host, "www.") ? host.substr(4) : host;
}

// The start of the last label; zero if there is only one.
std::size_t last_label(std::string_view text) { return text.rfind('.') + 1; }

// Second-level domains of country codes, as in "co.uk".
constexpr std::array<std::string_view, 14> kSecondLevelDomains{"ac", "co",  "com", "edu", "go",  "gob", "gov",
                                                               "gv", "ltd", "ne",  "net", "nom", "or",  "org"};

// Whether a host has a suffix like "co.uk" and another label before it.
bool has_country_suffix(std::string_view host) {
    const std::size_t last = last_label(host);
    if (last == 0 || host.size() - last != 2 || !is_letter(host[last]) || !is_letter(host[last + 1])) return false;
    const std::size_t second = last_label(host.substr(0, last - 1));
    const std::string_view label = host.substr(second, last - 1 - second);
    return second > 1 && std::any_of(kSecondLevelDomains.begin(), kSecondLevelDomains.end(),
                                     [&](std::string_view each) { return equals_ignore_case(label, each); });
}

// The registered domain of a host: two labels, or three for a suffix like "co.uk".
std::string_view registered_domain(std::string_view host) {
    std::size_t begin = host.size() + 1;
    for (int labels = has_country_suffix(host) ? 3 : 2; labels > 0 && begin > 0; --labels)
        begin = last_label(host.substr(0, begin - 1));
    return host.substr(begin);
}

constexpr std::array<std::string_view, 7> kGenericDomains{"com", "net", "org", "info", "biz", "gov", "edu"};

// Whether a text without "http" and "www" may be a host. Two final letters may be a country code, but also a file
// extension: "node.js", "readme.md".
bool looks_like_host(std::string_view text) {
    const std::size_t last = last_label(text);
    if (last < 2) return false;
    if (has_country_suffix(text)) return true;
    const std::string_view end = text.substr(last);
    return std::any_of(kGenericDomains.begin(), kGenericDomains.end(),
                       [&](std::string_view each) { return equals_ignore_case(end, each); });
}

// The host that a text shows at its start or after "http://"; empty if none.
std::string_view find_visible_host(std::string_view text) {
    text = trim(text);
    const std::size_t mark = text.find("://");
    const bool is_explicit = mark != kNotFound || starts_with_ignore_case(text, "www.");
    if (mark != kNotFound) text.remove_prefix(mark + 3);
    const auto end = std::find_if_not(text.begin(), text.end(), may_be_in_host);
    std::string_view host = text.substr(0, static_cast<std::size_t>(end - text.begin()));
    while (!host.empty() && host.back() == '.') host.remove_suffix(1);
    if (host.find('.') == kNotFound) return {};
    if (is_explicit) return host;
    const bool is_whole = end == text.end() || *end == '/';
    return is_whole && looks_like_host(host) ? host : std::string_view{};
}

}  // namespace

std::size_t Links::add(std::string_view url, Origin origin) {
    url = trim(url).substr(0, kMaxUrlBytes);
    url_.clear();
    for (const char c : url)
        if (c != '\t' && c != '\r' && c != '\n') url_.push_back(c);
    url = url_;
    const std::size_t colon = url.find(':');
    const std::string_view scheme = url.substr(0, std::min(colon, url.size()));
    if (equals_ignore_case(scheme, "javascript") || equals_ignore_case(scheme, "vbscript"))
        message_.flags.set(Flag::javascript_link);
    if (equals_ignore_case(scheme, "data")) message_.flags.set(Flag::data_link);
    if (equals_ignore_case(scheme, "mailto")) {
        const std::string_view address = url.substr(colon + 1, url.find_first_of("?,", colon + 1) - colon - 1);
        const std::size_t sign = address.rfind('@');
        return sign == kNotFound ? kNone : store(url, address.substr(sign + 1), origin);
    }
    std::size_t begin = is_scheme(scheme) ? colon + 1 : 0;
    if (begin == 0 && !(url.size() > 1 && is_slash(url[0]) && is_slash(url[1]))) return kNone;
    while (begin < url.size() && is_slash(url[begin])) ++begin;
    return store(url, url.substr(begin, host_end(url, begin) - begin), origin);
}

std::size_t Links::store(std::string_view url, std::string_view authority, Origin origin) {
    Link link;
    link.origin = origin;
    if (const std::size_t sign = authority.rfind('@'); sign != kNotFound) {
        authority.remove_prefix(sign + 1);
        link.set(Trait::userinfo);
    }
    const std::size_t bracket = authority.rfind(']');
    if (const std::size_t colon = authority.find(':', bracket == kNotFound ? 0 : bracket); colon != kNotFound) {
        if (colon + 1 < authority.size()) link.set(Trait::port);
        authority = authority.substr(0, colon);
    }
    host_.clear();
    append_percent_decoded(authority.substr(0, kMaxHostBytes), host_);
    if (host_.size() != std::min(authority.size(), kMaxHostBytes)) link.set(Trait::escaped);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    host_.erase(std::find_if(host_.begin(), host_.end(), is_control), host_.end());
    while (!host_.empty() && host_.back() == '.') host_.pop_back();
    if (host_.empty()) return kNone;
    if (message_.links.size() >= max_links_) {
        message_.flags.set(Flag::cut_links);
        return kNone;
    }
    if (is_ascii(host_)) {
        lower_in_place(host_);
    } else {
        link.set(Trait::unicode);
        folded_.clear();
        append_utf8(host_, folded_);
        unicode::fold(folded_, {true, false}, host_);
    }
    if (is_numeric(host_)) link.set(Trait::numeric);
    if (host_.starts_with("xn--") || host_.find(".xn--") != kNotFound) link.set(Trait::punycode);
    folded_.clear();
    append_utf8(url, folded_);  // truncation may have split a character
    link.url = message_.arena.keep(folded_);
    link.host = message_.arena.keep(host_);
    message_.links.push_back(link);
    return message_.links.size() - 1;
}

// Add the URL that begins at `begin` with its host at `host`; return its end.
std::size_t Links::add_from_text(std::string_view text, std::size_t begin, std::size_t host) {
    std::size_t end = host;
    while (end < text.size() && !ends_url(text[end])) ++end;
    const std::size_t next = end;
    while (end > host && std::string_view(".,;:!?)'*]}").find(text[end - 1]) != kNotFound) --end;
    const std::string_view url = text.substr(begin, std::min(end - begin, kMaxUrlBytes));
    if (starts_with_ignore_case(url, "mailto:")) {
        add(url, Origin::text);
        return next;
    }
    const std::string_view rest = url.substr(std::min(host - begin, url.size()));
    store(url, rest.substr(0, host_end(rest, 0)), Origin::text);
    return next;
}

void Links::scan(std::string_view text) {
    const auto next = [&](char c, std::size_t from) { return std::min(text.find(c, from), text.size()); };
    std::size_t at = 0, colon = next(':', 0), dot = next('.', 0);
    while (std::min(colon, dot) < text.size() && !message_.flags.has(Flag::cut_links)) {
        const std::size_t sign = std::min(colon, dot);
        std::size_t begin = sign, after = sign + 1;
        while (begin > at && sign - begin < 7 && is_letter(text[begin - 1])) --begin;
        const std::string_view word = text.substr(begin, sign - begin);
        if (sign == dot && equals_ignore_case(word, "www") && after < text.size() && is_alphanumeric(text[after]))
            after = add_from_text(text, begin, begin);
        else if (sign == colon && is_scheme(word) && text.substr(after, 2) == "//")
            after = add_from_text(text, begin, after + 2);
        else if (sign == colon && equals_ignore_case(word, "mailto")) after = add_from_text(text, begin, after);
        at = after;
        if (colon < at) colon = next(':', at);
        if (dot < at) dot = next('.', at);
    }
}

void Links::check_link_text(std::size_t link, std::string_view visible_text) {
    const std::string_view visible_host = find_visible_host(visible_text);
    if (visible_host.empty() || link >= message_.links.size()) return;
    host_ = visible_host;
    lower_in_place(host_);
    const std::string_view a = registered_domain(without_www(host_)),
                           b = registered_domain(without_www(message_.links[link].host));
    if (a == b || starts_with_ignore_case(message_.links[link].url, "mailto:")) return;
    message_.links[link].set(Trait::disguised);
    message_.flags.set(Flag::disguised_link);
}

}  // namespace weigh::mail
