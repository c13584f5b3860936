// Tests of the mail reader: a message with all features, damaged messages, and reuse of memory.
#include <string>
#include <string_view>
#include <vector>

#include "expect.h"
#include "weigh/mail/charset.h"
#include "weigh/mail/reader.h"

namespace {

namespace mail = weigh::mail;
using mail::Flag;

// Read a copy in exactly sized memory, so that the sanitizer detects out-of-bounds reads.
void read_exact(mail::Reader& reader, std::string_view raw, mail::Message& message) {
    const std::vector<char> exact(raw.begin(), raw.end());
    reader.read({exact.data(), exact.size()}, message);
}

constexpr std::string_view kWhole =
    "From me@example.org Sat Jan  1 00:00:00 2000\r\n"
    "From: =?iso-8859-1?q?Andr=E9?= <andre@example.org>\r\n"
    "Subject: =?utf-8?B?4oKs?=\r\n =?utf-8?q?_100?= now\r\n"
    "Content-Type: multipart/mixed; boundary=\"out er\"\r\n"
    "\r\n"
    "nobody sees this\r\n"
    "--out er\r\n"
    "Content-Type: multipart/alternative; boundary=in\r\n"
    "\r\n"
    "--in\r\n"
    "Content-Transfer-Encoding: quoted-printable\r\n"
    "\r\n"
    "plain =3D http://www.example.com/x\r\n"
    "--in\r\n"
    "Content-Type: text/html; charset=windows-1251\r\n"
    "Content-Transfer-Encoding: base64\r\n"
    "\r\n"
    "PHA+z/Do4uXyPHNwYW4gc3R5bGU9ImRpc3BsYXk6bm9uZSI+c2VjcmV0PC9zcGFuPjxhIGhyZWY9\r\n"
    "Imh0dHA6Ly8xMC4wLjAuMTo4MC8iPnd3dy5iYW5rLmNvbTwvYT4=\r\n"
    "--in--\r\n"
    "--out er\r\n"
    "Content-Type: application/x-thing; name=run.EXE\r\n"
    "Content-Disposition: attachment\r\n"
    "\r\n"
    "http://not.read.example\r\n"
    "--out er--\r\n"
    "nor this\r\n";

void all_parts_of_a_message_are_read() {
    mail::Reader reader;
    mail::Message message;
    read_exact(reader, kWhole, message);
    EXPECT(message.headers.size() == 3 && message.headers[0].value == "Andr\u00e9 <andre@example.org>");
    EXPECT(message.headers[1].name == "subject" && message.headers[1].value == "\u20ac 100 now");
    EXPECT(message.parts.size() == 3 && message.parts[0].type == "text/plain" && message.parts[0].depth == 2);
    EXPECT(message.parts[1].charset == "windows-1251" && message.parts[2].file == "run.EXE");
    EXPECT(message.text == "plain = http://www.example.com/x\n\u041f\u0440\u0438\u0432\u0435\u0442www.bank.com");
    EXPECT(message.hidden == "secret" && message.tags.size() == 3);
    EXPECT(message.parts[2].begin == message.parts[2].end && message.parts[2].size == 23);
    EXPECT(message.links.size() == 3 && message.links[0].host == "www.example.com");
    const mail::Link& link = message.links[1];
    EXPECT(link.host == "10.0.0.1" && link.origin == mail::Origin::href);
    EXPECT(link.has(mail::Trait::numeric) && link.has(mail::Trait::port) && link.has(mail::Trait::disguised));
    for (const Flag flag :
         {Flag::hidden_text, Flag::attachment, Flag::executable_attachment, Flag::disguised_link, Flag::missing_date})
        EXPECT(message.flags.has(flag));
    for (const Flag flag :
         {Flag::html_only, Flag::unclosed_multipart, Flag::wrong_charset, Flag::missing_from, Flag::broken_header})
        EXPECT(!message.flags.has(flag));
}

bool are_equal(const mail::Message& a, const mail::Message& b) {
    bool same = a.text == b.text && a.hidden == b.hidden && a.flags.bits() == b.flags.bits() && a.tags == b.tags;
    same &= a.headers.size() == b.headers.size() && a.parts.size() == b.parts.size();
    same &= a.links.size() == b.links.size();
    for (std::size_t i = 0; same && i < a.headers.size(); ++i)
        same = a.headers[i].name == b.headers[i].name && a.headers[i].value == b.headers[i].value;
    for (std::size_t i = 0; same && i < a.links.size(); ++i)
        same = a.links[i].url == b.links[i].url && a.links[i].host == b.links[i].host &&
               a.links[i].traits == b.links[i].traits;
    return same;
}

bool is_valid_utf8(std::string_view text) {
    std::string copy;
    return mail::append_utf8(text, copy);
}

std::string random_damaged_message(Random& random) {
    constexpr std::string_view kSigns = "\r\n-=?<>\"'&;:/@ \t%\xFF\xC3";
    std::string raw(kWhole);
    for (std::size_t n = random() % 20; n-- > 0;) {
        const std::size_t at = random() % raw.size();
        if (random() % 3 == 0) raw.erase(at, random() % 4);
        else raw.insert(at, 1, random() % 2 ? kSigns[random() % kSigns.size()] : static_cast<char>(random()));
    }
    return random() % 4 ? raw : raw.substr(0, random() % raw.size());
}

void damaged_messages_are_read_without_leftover_state(Random& random) {
    mail::Reader used;
    mail::Message into;
    for (int time = 0; time < 3000; ++time) {
        const std::string raw = random_damaged_message(random);
        mail::Reader fresh;
        mail::Message expected;
        read_exact(used, raw, into);
        read_exact(fresh, raw, expected);
        EXPECT(are_equal(into, expected));
        EXPECT(is_valid_utf8(into.text) && is_valid_utf8(into.hidden));
        for (const mail::Header& header : into.headers)
            EXPECT(is_valid_utf8(header.name) && is_valid_utf8(header.value));
        for (const mail::Link& link : into.links) EXPECT(is_valid_utf8(link.url) && is_valid_utf8(link.host));
        for (const mail::Part& part : into.parts) EXPECT(part.begin <= part.end && part.end <= into.text.size());
        for (const mail::Part& part : into.parts)
            EXPECT(is_valid_utf8(part.type) && is_valid_utf8(part.charset) && is_valid_utf8(part.file));
    }
}

void limits_are_enforced() {
    mail::Reader reader({.text_bytes = 10, .header_bytes = 20, .headers = 3, .parts = 2, .links = 1, .depth = 1});
    mail::Message message;
    read_exact(reader, kWhole, message);
    EXPECT(message.flags.has(Flag::too_deep) && message.headers.size() <= 3 && message.flags.has(Flag::cut_headers));
    read_exact(reader, "A: b\nB: c\nC: d\nD: e\n\n0123456789 www.a.b www.c.d", message);
    EXPECT(message.headers.size() == 3 && message.text == "0123456789" && message.flags.has(Flag::cut_text));
    read_exact(reader, "Content-Type: multipart/x; boundary=b\n\n--b\n\n1\n--b\n\n2\n--b\n\n3\n--b--", message);
    EXPECT(message.parts.size() == 2 && message.text == "1\n2" && message.flags.has(Flag::cut_parts));
    read_exact(reader, "\nwww.a.b", message);
    EXPECT(message.links.size() == 1 && !message.flags.has(Flag::cut_links));
}

}  // namespace

int main() {
    Random random(1);
    all_parts_of_a_message_are_read();
    limits_are_enforced();
    damaged_messages_are_read_without_leftover_state(random);
    return report();
}
