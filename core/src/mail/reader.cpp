#include "weigh/mail/reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "ascii.h"
#include "entity.h"
#include "multipart.h"
#include "weigh/mail/charset.h"
#include "weigh/mail/headers.h"
#include "weigh/mail/html.h"
#include "weigh/mail/links.h"
#include "weigh/mail/transfer.h"

namespace weigh::mail {
namespace {

constexpr std::string_view kPlain = "text/plain", kHtml = "text/html", kMessage = "message/rfc822";

// Those that may stand only once.
constexpr std::array<std::string_view, 8> kOnce{"from", "to",         "cc",       "subject",
                                                "date", "message-id", "reply-to", "sender"};
constexpr std::array<std::string_view, 14> kPrograms{".exe", ".scr", ".pif", ".bat", ".com", ".cmd", ".vbs",
                                                     ".vbe", ".js",  ".jse", ".wsf", ".hta", ".lnk", ".jar"};

bool is_program(std::string_view file) {
    return std::any_of(kPrograms.begin(), kPrograms.end(), [&](std::string_view end) {
        return file.size() >= end.size() && same(file.substr(file.size() - end.size()), end);
    });
}

// Where an HTML document tells its charset itself: near its start, if at all.
std::string_view told_charset(std::string_view source) {
    source = source.substr(0, 1024);
    std::size_t at = source.find("charset=");
    if (at == kNowhere) return {};
    at += 8;
    if (at < source.size() && (source[at] == '"' || source[at] == '\'')) ++at;
    std::size_t end = at;
    while (end < source.size() && (is_alphanumeric(source[end]) || source[end] == '-' || source[end] == '_')) ++end;
    return source.substr(at, end - at);
}

// Turn \r\n and \r into \n, from a position on.
void unify_lines(std::string& text, std::size_t begin) {
    std::size_t to = text.find('\r', begin);
    if (to == kNowhere) return;
    for (std::size_t from = to; from < text.size();) {
        if (text[from] == '\r') {
            text[to++] = '\n';
            from += from + 1 < text.size() && text[from + 1] == '\n' ? 2 : 1;
            continue;
        }
        const std::size_t end = std::min(text.find('\r', from), text.size());
        std::memmove(text.data() + to, text.data() + from, end - from);
        to += end - from;
        from = end;
    }
    text.resize(to);
}

// A text without the mark of its encoding that some editors write before the first header.
std::string_view without_mark(std::string_view raw) { return raw.starts_with("\xEF\xBB\xBF") ? raw.substr(3) : raw; }

}  // namespace

struct Reader::Scratch {
    explicit Scratch(const Limits& given) : limits(given), values(charsets) {
        limits.text_bytes = std::min(given.text_bytes, kMostText);
    }

    void read(std::string_view raw, Message& message);

private:
    void keep(const Field& field);
    void judge_headers();
    void read_entity(std::string_view content, std::string_view standard, std::size_t depth);
    void read_body(Entity& entity, std::string_view body, std::size_t depth);
    void read_multipart(const Entity& entity, std::string_view body, std::size_t depth);
    void read_leaf(const Entity& entity, std::string_view body, std::size_t depth);
    void append_text(const Entity& entity, std::string_view body);
    bool decode(const Entity& entity, std::string_view body);
    void note(Reading reading);

    Limits limits;
    Charsets charsets;
    Values values;
    Html html;
    Message* out = nullptr;
    Links* links = nullptr;
    std::size_t left = 0, header_left = 0;  // bytes that may still be decoded
    bool has_plain = false;
    std::string name, unfolded, value, decoded, source;
};

void Reader::Scratch::read(std::string_view raw, Message& message) {
    message.clear();
    out = &message;
    Links adding(message, limits.links);
    links = &adding;
    left = limits.text_bytes;
    header_left = limits.header_bytes;
    has_plain = false;
    message.flags.set(Flag::nul_bytes, raw.find('\0') != kNowhere);
    Entity entity(kPlain);
    Fields fields(without_mark(raw));
    for (Field field; fields.next(field);) {
        keep(field);
        entity.take(field);
    }
    message.flags.set(Flag::broken_header, fields.is_broken());
    judge_headers();
    read_body(entity, fields.body(), 0);
    message.flags.set(Flag::html_only, message.flags.has(Flag::html) && !has_plain);
    links = nullptr;
}

void Reader::Scratch::keep(const Field& field) {
    if (out->headers.size() >= limits.headers || header_left == 0) {
        out->flags.set(Flag::cut_headers);
        return;
    }
    name = field.name;
    make_lower(name);
    unfold(field.value.substr(0, header_left), unfolded);
    value.clear();
    out->flags.set(Flag::eight_bit_header, !is_ascii(unfolded));
    values.append(unfolded, value);
    out->flags.set(Flag::cut_headers, field.value.size() > header_left || name.size() + value.size() > header_left);
    cut_at(name, header_left);
    header_left -= name.size();
    cut_at(value, header_left);
    header_left -= value.size();
    out->headers.push_back({out->arena.keep(name), out->arena.keep(trimmed(value))});
}

void Reader::Scratch::judge_headers() {
    std::array<std::size_t, kOnce.size()> counts{};
    for (const Header& header : out->headers) {
        const auto found = std::find(kOnce.begin(), kOnce.end(), header.name);
        if (found != kOnce.end()) ++counts[static_cast<std::size_t>(found - kOnce.begin())];
    }
    const auto count = [&](std::string_view wanted) {
        return counts[static_cast<std::size_t>(std::find(kOnce.begin(), kOnce.end(), wanted) - kOnce.begin())];
    };
    Flags& flags = out->flags;
    flags.set(Flag::missing_from, count("from") == 0);
    flags.set(Flag::missing_to, count("to") + count("cc") == 0);
    flags.set(Flag::missing_subject, count("subject") == 0);
    flags.set(Flag::missing_date, count("date") == 0);
    flags.set(Flag::missing_message_id, count("message-id") == 0);
    flags.set(Flag::repeated_header, std::any_of(counts.begin(), counts.end(), [](std::size_t n) { return n > 1; }));
}

void Reader::Scratch::read_entity(std::string_view content, std::string_view standard, std::size_t depth) {
    Entity entity(standard);
    Fields fields(content);
    for (Field field; fields.next(field);) entity.take(field);
    read_body(entity, fields.body(), depth);
}

void Reader::Scratch::read_body(Entity& entity, std::string_view body, std::size_t depth) {
    entity.settle(charsets);
    const bool is_multipart = starts(entity.type, "multipart/");
    const bool is_message = entity.type == kMessage || entity.type == "message/news" || entity.type == "message/global";
    if (!is_multipart && !is_message) return read_leaf(entity, body, depth);
    if (depth == limits.depth) {
        out->flags.set(Flag::too_deep);
        return read_leaf(entity, body, depth);
    }
    if (is_multipart) read_multipart(entity, body, depth);
    else read_entity(body, kPlain, depth + 1);
}

void Reader::Scratch::read_multipart(const Entity& entity, std::string_view body, std::size_t depth) {
    Multipart parts(body, entity.boundary);
    if (!parts.is_begun()) {
        out->flags.set(Flag::missing_boundary);
        parts = Multipart(body, guessed_boundary(body));
        if (!parts.is_begun()) return read_leaf(Entity(kPlain), body, depth);
    }
    const std::string_view standard = entity.type == "multipart/digest" ? kMessage : kPlain;
    for (std::string_view part; parts.next(part);) {
        if (out->parts.size() >= limits.parts) {
            out->flags.set(Flag::cut_parts);
            return;
        }
        read_entity(part, standard, depth + 1);
    }
    out->flags.set(Flag::unclosed_multipart, !parts.is_closed());
}

void Reader::Scratch::read_leaf(const Entity& entity, std::string_view body, std::size_t depth) {
    if (out->parts.size() >= limits.parts) {
        out->flags.set(Flag::cut_parts);
        return;
    }
    Part part;
    Arena& arena = out->arena;
    part.type = arena.keep(entity.type);
    part.charset = arena.keep(entity.charset);
    part.encoding = arena.keep(entity.encoding);
    part.disposition = arena.keep(entity.disposition);
    value.clear();
    values.append(entity.file, value);
    part.file = arena.keep(value);
    part.size = body.size();
    part.depth = depth;
    out->flags.set(Flag::attachment, entity.disposition == "attachment" || !entity.file.empty());
    out->flags.set(Flag::executable_attachment, is_program(part.file));
    const bool is_text = starts(entity.type, "text/") || starts(entity.type, "message/");
    if (is_text && !out->text.empty() && out->text.back() != '\n') out->text.push_back('\n');
    part.begin = out->text.size();
    if (is_text) append_text(entity, body);
    part.end = out->text.size();
    links->scan(std::string_view(out->text).substr(part.begin));
    out->parts.push_back(part);
}

void Reader::Scratch::append_text(const Entity& entity, std::string_view body) {
    if (left == 0) {
        out->flags.set(Flag::cut_text, !body.empty());
        return;
    }
    const std::size_t begin = out->text.size();
    const bool is_coded = decode(entity, body);
    std::string_view bytes = is_coded ? std::string_view(decoded) : body;
    out->flags.set(Flag::cut_text, bytes.size() > left);
    bytes = bytes.substr(0, left);
    const bool is_html = entity.type == kHtml;
    std::string& to = is_html ? source : out->text;
    if (is_html) source.clear();
    note(charsets.append(bytes, is_html && entity.charset.empty() ? told_charset(bytes) : entity.charset, to));
    const std::size_t from = is_html ? 0 : begin;
    out->flags.set(Flag::cut_text, to.size() - from > left);
    cut_at(to, from + left);
    left -= to.size() - from;
    if (is_html) {
        html.append(source, *out, *links);
    } else {
        unify_lines(out->text, begin);
        has_plain |= !trimmed(std::string_view(out->text).substr(begin)).empty();
    }
}

// Undo the transfer encoding into `decoded`; false if there is nothing to undo.
bool Reader::Scratch::decode(const Entity& entity, std::string_view body) {
    decoded.clear();
    // One byte more than wanted tells that something was cut.
    if (entity.encoding == "base64") {
        out->flags.set(Flag::bad_base64, !decode_base64(body, left + 1, decoded));
    } else if (entity.encoding == "quoted-printable") {
        out->flags.set(Flag::bad_quoted_printable, !decode_quoted_printable(body, left + 1, decoded));
    } else {
        constexpr std::array<std::string_view, 4> kPlainly{"", "7bit", "8bit", "binary"};
        const bool is_known = std::find(kPlainly.begin(), kPlainly.end(), entity.encoding) != kPlainly.end();
        out->flags.set(Flag::unknown_encoding, !is_known);
        return false;
    }
    return true;
}

void Reader::Scratch::note(Reading reading) {
    out->flags.set(Flag::wrong_charset, reading == Reading::wrong_bytes);
    out->flags.set(Flag::unknown_charset, reading == Reading::unknown_charset);
}

Reader::Reader(const Limits& limits) : scratch_(std::make_unique<Scratch>(limits)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::read(std::string_view raw, Message& out) { scratch_->read(raw, out); }

}  // namespace weigh::mail
