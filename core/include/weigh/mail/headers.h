// The headers of a message or part: finding, unfolding and decoding them, and their parameters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "weigh/mail/charset.h"

namespace weigh::mail {

// The position behind the end of the line at `at`, which is \n, \r\n or \r.
class Lines {
public:
    explicit Lines(std::string_view text) : text_(text) {}
    std::size_t behind(std::size_t at);

private:
    std::string_view text_;
    std::size_t feed_ = 0;  // of the next \n: a text without one is searched once
    bool looked_ = false;
};

struct Field {
    std::string_view name;   // as it stands there
    std::string_view value;  // with its folds
};

// Goes through the headers at the start of a text. A blank line ends them, and so does a line that can be
// neither a header nor the continuation of one: it belongs to the body. Envelope lines ("From ") are skipped.
class Fields {
public:
    explicit Fields(std::string_view text) : text_(text), lines_(text) {}

    bool next(Field& field);

    std::string_view body() const { return text_.substr(at_); }  // when there is no next one
    bool is_broken() const { return is_broken_; }

private:
    std::string_view text_;
    Lines lines_;
    std::size_t at_ = 0;
    bool is_broken_ = false;
};

// Replace `out` by the value without folds and spaces around it.
void unfold(std::string_view value, std::string& out);

// Decodes values: encoded words, next to each other ones joined, and bytes beyond ASCII.
class Values {
public:
    explicit Values(Charsets& charsets) : charsets_(charsets) {}

    // Append the decoded text of an unfolded value.
    void append(std::string_view value, std::string& out);

private:
    void flush(std::string& out);

    Charsets& charsets_;
    std::string bytes_, charset_;  // of the encoded words at hand
};

// Replace `out` by what stands before the first parameter, in lower case, without quotes and comments.
void main_value(std::string_view value, std::string& out);

// Replace `out` by a parameter of an unfolded value, whole even if it comes in pieces; false if it is not there.
bool parameter(std::string_view value, std::string_view name, Charsets& charsets, std::string& out);

}  // namespace weigh::mail
