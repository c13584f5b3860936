#include "ascii.h"
#include "weigh/mail/headers.h"
#include "weigh/mail/transfer.h"

namespace weigh::mail {
namespace {

// "=?charset?B?text?=": its pieces, and where it ends; nowhere if this is none.
struct Word {
    std::string_view charset, text;
    bool is_base64 = false;
    std::size_t end = kNowhere;
};

Word word_at(std::string_view value, std::size_t begin) {
    const std::size_t mark = value.find('?', begin + 2);
    if (mark == kNowhere || mark + 2 >= value.size() || value[mark + 2] != '?') return {};
    const char encoding = lower(value[mark + 1]);
    if (encoding != 'b' && encoding != 'q') return {};
    // An "=" at the start of the text may stand right behind the mark.
    const std::size_t close = value.find("?=", mark + 3);
    if (close == kNowhere) return {};
    const std::string_view charset = value.substr(begin + 2, mark - begin - 2);
    return {charset.substr(0, charset.find('*')), value.substr(mark + 3, close - mark - 3), encoding == 'b', close + 2};
}

bool is_only_space(std::string_view text) { return trimmed(text).empty(); }

}  // namespace

void Values::flush(std::string& out) {
    if (!bytes_.empty()) charsets_.append(bytes_, charset_, out);
    bytes_.clear();
}

void Values::append(std::string_view value, std::string& out) {
    std::size_t plain = 0, search = value.find("=?");
    if (search == kNowhere) return append_guessed(value, out);
    bool behind_word = false;
    // Behind the last "?=" there is no word, however many begin.
    const std::size_t last = value.rfind("?=");
    for (std::size_t at; last != kNowhere && (at = value.find("=?", search)) < last;) {
        const Word word = word_at(value, at);
        if (word.end == kNowhere) {
            search = at + 2;
            continue;
        }
        const std::string_view between = value.substr(plain, at - plain);
        const bool joins = behind_word && is_only_space(between);
        if (!joins || !same(word.charset, charset_)) flush(out);
        if (!joins) append_guessed(between, out);
        charset_ = word.charset;
        if (word.is_base64) decode_base64(word.text, word.text.size(), bytes_);
        else decode_q(word.text, bytes_);
        plain = search = word.end;
        behind_word = true;
    }
    flush(out);
    append_guessed(value.substr(plain), out);
}

}  // namespace weigh::mail
