#include "weigh/mail/reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "ascii.h"
#include "mime.h"
#include "weigh/mail/charset.h"
#include "weigh/mail/headers.h"
#include "weigh/mail/html.h"
#include "weigh/mail/links.h"
#include "weigh/mail/transfer_encoding.h"

namespace weigh::mail {
namespace {

constexpr std::string_view kPlain = "text/plain", kHtml = "text/html", kMessage = "message/rfc822";

// Headers that may occur only once.
constexpr std::array<std::string_view, 8> kUniqueHeaders{"from", "to",         "cc",       "subject",
                                                         "date", "message-id", "reply-to", "sender"};
constexpr std::array<std::string_view, 14> kExecutableExtensions{
    ".exe", ".scr", ".pif", ".bat", ".com", ".cmd", ".vbs", ".vbe", ".js", ".jse", ".wsf", ".hta", ".lnk", ".jar"};

bool is_executable(std::string_view file) {
    return std::any_of(kExecutableExtensions.begin(), kExecutableExtensions.end(), [&](std::string_view end) {
        return file.size() >= end.size() && equals_ignore_case(file.substr(file.size() - end.size()), end);
    });
}

// The charset declared near the start of an HTML document, if any.
std::string_view find_meta_charset(std::string_view source) {
    source = source.substr(0, 1024);
    std::size_t at = source.find("charset=");
    if (at == kNotFound) return {};
    at += 8;
    if (at < source.size() && (source[at] == '"' || source[at] == '\'')) ++at;
    std::size_t end = at;
    while (end < source.size() && (is_alphanumeric(source[end]) || source[end] == '-' || source[end] == '_')) ++end;
    return source.substr(at, end - at);
}

// Convert \r\n and \r to \n from a position on.
void normalize_line_ends(std::string& text, std::size_t begin) {
    std::size_t to = text.find('\r', begin);
    if (to == kNotFound) return;
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

// Remove a byte order mark, which some editors write before the first header.
std::string_view strip_bom(std::string_view raw) { return raw.starts_with("\xEF\xBB\xBF") ? raw.substr(3) : raw; }

}  // namespace

struct Reader::Scratch {
    explicit Scratch(const Limits& given) : limits(given), values(charsets) {
        limits.text_bytes = std::min(given.text_bytes, kMaxTextBytes);
    }

    void read(std::string_view raw, Message& message);

private:
    void store_header(const HeaderField& field);
    void set_header_flags();
    void read_entity(std::string_view content, std::string_view default_type, std::size_t depth);
    void read_body(MimeEntity& entity, std::string_view body, std::size_t depth);
    void read_multipart(const MimeEntity& entity, std::string_view body, std::size_t depth);
    void read_leaf(const MimeEntity& entity, std::string_view body, std::size_t depth);
    void append_text(const MimeEntity& entity, std::string_view body);
    bool decode(const MimeEntity& entity, std::string_view body);
    void set_decode_flags(DecodeResult reading);

    Limits limits;
    CharsetDecoder charsets;
    ValueDecoder values;
    Html html;
    Message* out = nullptr;
    Links* links = nullptr;
    std::size_t text_budget = 0, header_budget = 0;  // bytes that may still be decoded
    bool has_plain = false;
    std::string name, unfolded, value, decoded, source;
};

void Reader::Scratch::read(std::string_view raw, Message& message) {
    message.clear();
    out = &message;
    Links adding(message, limits.links);
    links = &adding;
    text_budget = limits.text_bytes;
    header_budget = limits.header_bytes;
    has_plain = false;
    message.flags.set(Flag::nul_bytes, raw.find('\0') != kNotFound);
    MimeEntity entity(kPlain);
    HeaderParser fields(strip_bom(raw));
    for (HeaderField field; fields.next(field);) {
        store_header(field);
        entity.add_header(field);
    }
    message.flags.set(Flag::broken_header, fields.is_malformed());
    set_header_flags();
    read_body(entity, fields.body(), 0);
    message.flags.set(Flag::html_only, message.flags.has(Flag::html) && !has_plain);
    links = nullptr;
}

void Reader::Scratch::store_header(const HeaderField& field) {
    if (out->headers.size() >= limits.headers || header_budget == 0) {
        out->flags.set(Flag::cut_headers);
        return;
    }
    name = field.name;
    lower_in_place(name);
    unfold(field.value.substr(0, header_budget), unfolded);
    value.clear();
    out->flags.set(Flag::eight_bit_header, !is_ascii(unfolded));
    values.append(unfolded, value);
    out->flags.set(Flag::cut_headers, field.value.size() > header_budget || name.size() + value.size() > header_budget);
    truncate_utf8(name, header_budget);
    header_budget -= name.size();
    truncate_utf8(value, header_budget);
    header_budget -= value.size();
    out->headers.push_back({out->arena.keep(name), out->arena.keep(trim(value))});
}

void Reader::Scratch::set_header_flags() {
    std::array<std::size_t, kUniqueHeaders.size()> counts{};
    for (const Header& header : out->headers) {
        const auto found = std::find(kUniqueHeaders.begin(), kUniqueHeaders.end(), header.name);
        if (found != kUniqueHeaders.end()) ++counts[static_cast<std::size_t>(found - kUniqueHeaders.begin())];
    }
    const auto count = [&](std::string_view wanted) {
        return counts[static_cast<std::size_t>(std::find(kUniqueHeaders.begin(), kUniqueHeaders.end(), wanted) -
                                               kUniqueHeaders.begin())];
    };
    Flags& flags = out->flags;
    flags.set(Flag::missing_from, count("from") == 0);
    flags.set(Flag::missing_to, count("to") + count("cc") == 0);
    flags.set(Flag::missing_subject, count("subject") == 0);
    flags.set(Flag::missing_date, count("date") == 0);
    flags.set(Flag::missing_message_id, count("message-id") == 0);
    flags.set(Flag::repeated_header, std::any_of(counts.begin(), counts.end(), [](std::size_t n) { return n > 1; }));
}

void Reader::Scratch::read_entity(std::string_view content, std::string_view default_type, std::size_t depth) {
    MimeEntity entity(default_type);
    HeaderParser fields(content);
    for (HeaderField field; fields.next(field);) entity.add_header(field);
    read_body(entity, fields.body(), depth);
}

void Reader::Scratch::read_body(MimeEntity& entity, std::string_view body, std::size_t depth) {
    entity.finish(charsets);
    const bool is_multipart = starts_with_ignore_case(entity.type, "multipart/");
    const bool is_message = entity.type == kMessage || entity.type == "message/news" || entity.type == "message/global";
    if (!is_multipart && !is_message) return read_leaf(entity, body, depth);
    if (depth == limits.depth) {
        out->flags.set(Flag::too_deep);
        return read_leaf(entity, body, depth);
    }
    if (is_multipart) read_multipart(entity, body, depth);
    else read_entity(body, kPlain, depth + 1);
}

void Reader::Scratch::read_multipart(const MimeEntity& entity, std::string_view body, std::size_t depth) {
    Multipart parts(body, entity.boundary);
    if (!parts.has_boundary()) {
        out->flags.set(Flag::missing_boundary);
        parts = Multipart(body, guess_boundary(body));
        if (!parts.has_boundary()) return read_leaf(MimeEntity(kPlain), body, depth);
    }
    const std::string_view default_type = entity.type == "multipart/digest" ? kMessage : kPlain;
    for (std::string_view part; parts.next(part);) {
        if (out->parts.size() >= limits.parts) {
            out->flags.set(Flag::cut_parts);
            return;
        }
        read_entity(part, default_type, depth + 1);
    }
    out->flags.set(Flag::unclosed_multipart, !parts.is_closed());
}

void Reader::Scratch::read_leaf(const MimeEntity& entity, std::string_view body, std::size_t depth) {
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
    out->flags.set(Flag::executable_attachment, is_executable(part.file));
    const bool is_text =
        starts_with_ignore_case(entity.type, "text/") || starts_with_ignore_case(entity.type, "message/");
    if (is_text && !out->text.empty() && out->text.back() != '\n') out->text.push_back('\n');
    part.begin = out->text.size();
    if (is_text) append_text(entity, body);
    part.end = out->text.size();
    links->scan(std::string_view(out->text).substr(part.begin));
    out->parts.push_back(part);
}

void Reader::Scratch::append_text(const MimeEntity& entity, std::string_view body) {
    if (text_budget == 0) {
        out->flags.set(Flag::cut_text, !body.empty());
        return;
    }
    const std::size_t begin = out->text.size();
    const bool is_encoded = decode(entity, body);
    std::string_view bytes = is_encoded ? std::string_view(decoded) : body;
    out->flags.set(Flag::cut_text, bytes.size() > text_budget);
    bytes = bytes.substr(0, text_budget);
    const bool is_html = entity.type == kHtml;
    std::string& to = is_html ? source : out->text;
    if (is_html) source.clear();
    set_decode_flags(
        charsets.append(bytes, is_html && entity.charset.empty() ? find_meta_charset(bytes) : entity.charset, to));
    const std::size_t from = is_html ? 0 : begin;
    out->flags.set(Flag::cut_text, to.size() - from > text_budget);
    truncate_utf8(to, from + text_budget);
    text_budget -= to.size() - from;
    if (is_html) {
        html.append(source, *out, *links);
    } else {
        normalize_line_ends(out->text, begin);
        has_plain |= !trim(std::string_view(out->text).substr(begin)).empty();
    }
}

// Decode the transfer encoding into `decoded`; false if there is none.
bool Reader::Scratch::decode(const MimeEntity& entity, std::string_view body) {
    decoded.clear();
    // Decode one byte more than allowed to detect truncation.
    if (entity.encoding == "base64") {
        out->flags.set(Flag::bad_base64, !decode_base64(body, text_budget + 1, decoded));
    } else if (entity.encoding == "quoted-printable") {
        out->flags.set(Flag::bad_quoted_printable, !decode_quoted_printable(body, text_budget + 1, decoded));
    } else {
        constexpr std::array<std::string_view, 4> kIdentityEncodings{"", "7bit", "8bit", "binary"};
        const bool is_known = std::find(kIdentityEncodings.begin(), kIdentityEncodings.end(), entity.encoding) !=
                              kIdentityEncodings.end();
        out->flags.set(Flag::unknown_encoding, !is_known);
        return false;
    }
    return true;
}

void Reader::Scratch::set_decode_flags(DecodeResult reading) {
    out->flags.set(Flag::wrong_charset, reading == DecodeResult::invalid_bytes);
    out->flags.set(Flag::unknown_charset, reading == DecodeResult::unknown_charset);
}

Reader::Reader(const Limits& limits) : scratch_(std::make_unique<Scratch>(limits)) {}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::read(std::string_view raw, Message& out) { scratch_->read(raw, out); }

}  // namespace weigh::mail
