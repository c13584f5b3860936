// Readers: each gathers the fields of one column.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/csv.h"

namespace weigh::csv {

// How many bytes a short field may be looked at as, if so many are there to read.
inline constexpr std::size_t kRoom = 16;

// One field; `roomy` says that kRoom bytes may be read from its beginning on.
struct Field {
    const char* data = nullptr;
    std::size_t size = 0;
    bool roomy = false;

    std::string_view text() const { return {data, size}; }
};

// How many fields were taken, and what is wrong with the next, if anything.
struct Taken {
    std::size_t count = 0;
    Fault fault = Fault::none;
};

// Fields come many at a time: columns differ in what they do with a field, and a loop that does the
// same again and again is twice as fast.
class Reader {
public:
    virtual ~Reader() = default;
    virtual void resize(std::size_t records) = 0;
    // Store the fields of consecutive records, up to the first one that does not fit.
    virtual Taken take(std::size_t first, std::span<const Field> fields) = 0;
    virtual Column finish() = 0;
};

// `data` is what all fields but unquoted ones are part of.
std::unique_ptr<Reader> reader(Kind kind, std::span<const std::string> missing, std::string_view data);

}  // namespace weigh::csv
