// Flags: a fixed list of named properties of a message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weigh::mail {

enum class Flag : std::uint8_t {
    // headers
    missing_date,
    missing_from,
    missing_message_id,
    missing_subject,
    missing_to,       // neither To nor Cc
    repeated_header,  // one of the headers that may occur only once
    eight_bit_header,
    broken_header,  // an invalid header line, or no blank line after the headers
    // structure
    unclosed_multipart,
    missing_boundary,  // not declared, or never found
    bad_base64,
    bad_quoted_printable,
    unknown_encoding,  // an unsupported transfer encoding
    unknown_charset,
    wrong_charset,  // bytes that are invalid in the charset
    nul_bytes,
    attachment,
    executable_attachment,  // by its file extension
    // limits
    cut_text,
    cut_headers,
    cut_parts,
    cut_links,
    too_deep,
    // HTML
    html,
    html_only,        // no plain text alternative
    hidden_text,      // not displayed, invisible, tiny, or in the colour of its background
    comment_in_word,  // a comment between two letters
    unknown_tag,      // a tag that is not in HTML
    form,
    script,
    event_handler,  // an attribute that would run a script
    iframe,         // or another embedded document or program
    remote_image,
    image_without_text,  // an image with hardly any text
    meta_refresh,
    javascript_link,
    data_link,
    // links
    disguised_link,  // the link text shows a different host than the target
    count_,
};

inline constexpr std::size_t kFlags = static_cast<std::size_t>(Flag::count_);

inline constexpr std::array<std::string_view, kFlags> kFlagNames{
    "missing-date",
    "missing-from",
    "missing-message-id",
    "missing-subject",
    "missing-to",
    "repeated-header",
    "8bit-header",
    "broken-header",
    "unclosed-multipart",
    "missing-boundary",
    "bad-base64",
    "bad-quoted-printable",
    "unknown-encoding",
    "unknown-charset",
    "wrong-charset",
    "nul-bytes",
    "attachment",
    "executable",
    "cut-text",
    "cut-headers",
    "cut-parts",
    "cut-links",
    "too-deep",
    "html",
    "html-only",
    "hidden-text",
    "comment-in-word",
    "unknown-tag",
    "form",
    "script",
    "event-handler",
    "iframe",
    "remote-image",
    "image-without-text",
    "meta-refresh",
    "javascript-link",
    "data-link",
    "disguised-link",
};

class Flags {
public:
    void set(Flag flag) { bits_ |= bit(flag); }
    void set(Flag flag, bool holds) { bits_ |= holds ? bit(flag) : 0; }
    bool has(Flag flag) const { return (bits_ & bit(flag)) != 0; }
    std::uint64_t bits() const { return bits_; }

private:
    static std::uint64_t bit(Flag flag) { return std::uint64_t{1} << static_cast<int>(flag); }

    std::uint64_t bits_ = 0;
};

static_assert(kFlags <= 64);

}  // namespace weigh::mail
