// HTML to the text that it shows.
//
// Tags are dropped, blocks stand on lines of their own, runs of spaces become one, named and numbered
// characters are decoded. What is inside comments, scripts and styles is dropped; a title is kept with the
// hidden text, because no mail program shows it. Text is hidden by the style of an element around it, written
// in its attributes; style sheets are not looked at.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weigh/mail/links.h"
#include "weigh/mail/message.h"

namespace weigh::mail {

// Adds documents to a message; its memory is used again.
class Html {
public:
    Html();
    ~Html();
    Html(const Html&) = delete;
    Html& operator=(const Html&) = delete;

    // Append the text of a document in UTF-8, and what else it shows of itself.
    void append(std::string_view source, Message& message, Links& links);

private:
    class Page;
    std::unique_ptr<Page> page_;
};

}  // namespace weigh::mail
