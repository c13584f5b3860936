// Column readers, each of which stores the fields of one column.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weigh/csv.h"

namespace weigh::csv {

// Bytes that may be read from the beginning of a padded field.
inline constexpr std::size_t kPaddedBytes = 16;

// One field; `is_padded` means that kPaddedBytes bytes can be read from its beginning.
struct Field {
    const char* data = nullptr;
    std::size_t size = 0;
    bool is_padded = false;

    std::string_view text() const { return {data, size}; }
};

// How many fields were stored, and why the next one was not, if so.
struct StoreResult {
    std::size_t count = 0;
    Fault fault = Fault::none;
};

// Fields are passed in batches, because a tight loop per column is twice as fast as a virtual call per field.
class ColumnReader {
public:
    virtual ~ColumnReader() = default;
    virtual void resize(std::size_t records) = 0;
    // Store the fields of consecutive records up to the first invalid one.
    virtual StoreResult store(std::size_t first, std::span<const Field> fields) = 0;
    virtual Column finish() = 0;
};

// All fields except unescaped ones are substrings of `data`.
std::unique_ptr<ColumnReader> make_reader(Kind kind, std::span<const std::string> missing, const NumberFormat& format,
                                          std::string_view data);

}  // namespace weigh::csv
