// Parses, unfolds and decodes the headers of a message or MIME part, and their parameters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weigh/mail/charset.h"

namespace weigh::mail {

// Finds line ends: next_line returns the position after the line end (\n, \r\n or \r) of the line at `at`.
class LineScanner {
public:
    explicit LineScanner(std::string_view text) : text_(text) {}
    std::size_t next_line(std::size_t at);

private:
    std::string_view text_;
    std::size_t line_feed_ = 0;  // position of the next \n, cached so that a text without one is searched once
    bool has_searched_ = false;
};

struct HeaderField {
    std::string_view name;   // as written
    std::string_view value;  // including folds
};

// Iterates over the headers at the start of a text. They end at a blank line, or at a line that is neither a header
// nor a continuation; such a line belongs to the body. Envelope lines ("From ") are skipped.
class HeaderParser {
public:
    explicit HeaderParser(std::string_view text) : text_(text), lines_(text) {}

    bool next(HeaderField& field);

    std::string_view body() const { return text_.substr(at_); }  // valid after the last header
    bool is_malformed() const { return is_malformed_; }

private:
    std::string_view text_;
    LineScanner lines_;
    std::size_t at_ = 0;
    bool is_malformed_ = false;
};

// Replace `out` by the unfolded and trimmed value.
void unfold(std::string_view value, std::string& out);

// Decodes encoded words (RFC 2047), joining adjacent ones, and non-ASCII bytes.
class ValueDecoder {
public:
    explicit ValueDecoder(CharsetDecoder& charsets) : charsets_(charsets) {}

    // Append the decoded text of an unfolded value.
    void append(std::string_view value, std::string& out);

private:
    void flush(std::string& out);

    CharsetDecoder& charsets_;
    std::string bytes_, charset_;  // of the pending encoded words
};

// Replace `out` by the value before the first parameter, in lower case, without quotes and comments.
void parse_main_value(std::string_view value, std::string& out);

// Replace `out` by a parameter of an unfolded value, joining continuations (RFC 2231); false if it is absent.
bool parse_parameter(std::string_view value, std::string_view name, CharsetDecoder& charsets, std::string& out);

}  // namespace weigh::mail
