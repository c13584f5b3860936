// What the headers of a message or part say about its body.
#pragma once

#include <string>
#include <string_view>

#include "weigh/mail/headers.h"

namespace weigh::mail {

struct Entity {
    // `standard` is the type of a body whose headers tell none.
    explicit Entity(std::string_view standard) : type(standard) {}

    void take(const Field& field);    // keep a header that matters; the first one of a name counts
    void settle(Charsets& charsets);  // when all were taken

    std::string type, charset, encoding, disposition, file, boundary;

private:
    std::string_view type_value, encoding_value, disposition_value;
};

}  // namespace weigh::mail
