// Converts HTML to its visible text.
//
// Tags are removed, block elements are put on lines of their own, white space is collapsed, and character references
// are decoded. Comments, scripts and styles are dropped; the title is added to the hidden text, because mail programs
// do not show it. Text is hidden if the style attribute of an enclosing element hides it; style sheets are ignored.
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

// Appends documents to a message. Holds scratch memory for reuse.
class Html {
public:
    Html();
    ~Html();
    Html(const Html&) = delete;
    Html& operator=(const Html&) = delete;

    // Append the text of a UTF-8 document, its links and its flags.
    void append(std::string_view source, Message& message, Links& links);

private:
    class DocumentReader;
    std::unique_ptr<DocumentReader> reader_;
};

}  // namespace weigh::mail
