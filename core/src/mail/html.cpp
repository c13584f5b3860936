#include "weigh/mail/html.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "ascii.h"
#include "elements.h"
#include "character_references.h"
#include "html_tag.h"
#include "style.h"

namespace weigh::mail {
namespace {

constexpr std::size_t kUnknown = kElements.size(), kMaxDepth = 256, kMaxTagBytes = 15, kMaxAttributeBytes = 40;

constexpr std::size_t element_index(std::string_view name) {
    for (std::size_t i = 0; i < kElements.size(); ++i)
        if (kElements[i].name == name) return i;
    return kUnknown;
}
constexpr std::size_t kA = element_index("a"), kTitle = element_index("title"), kScript = element_index("script"),
                      kForm = element_index("form");
constexpr std::size_t kImg = element_index("img"), kBody = element_index("body"), kMeta = element_index("meta"),
                      kP = element_index("p"), kTr = element_index("tr");
constexpr std::size_t kTable = element_index("table"), kUl = element_index("ul"), kOl = element_index("ol");
constexpr std::array kEmbedded{element_index("iframe"), element_index("frame"), element_index("object"),
                               element_index("embed"), element_index("applet")};

static_assert(std::is_sorted(kElements.begin(), kElements.end(), [](auto& a, auto& b) { return a.name < b.name; }));

enum class Gap : std::uint8_t { none, space, line };

struct OpenElement {
    std::size_t element;
    Style style;
};

}  // namespace

std::size_t find_element(std::string_view name) {
    const auto found = std::ranges::lower_bound(kElements, name, {}, &Element::name);
    const auto at = static_cast<std::size_t>(found - kElements.begin());
    return at < kUnknown && found->name == name ? at : kUnknown;
}

// Reads one document into a message.
class Html::DocumentReader {
    static constexpr std::size_t kMinTextBytes = 25;  // text bytes next to an image

public:
    void read(std::string_view source, Message& message, Links& links) {
        begin(message, links);
        CommentScanner comments(source);
        for (std::size_t at = 0; at < source.size();) {
            const std::size_t bracket = std::min(source.find('<', at), source.size());
            if (bracket != at) append_text(source.substr(at, bracket - at));
            at = bracket == source.size() ? bracket : markup(source, bracket, comments);
        }
        end_anchor();
        finish();
    }

private:
    void begin(Message& message, Links& links) {
        message_ = &message;
        links_ = &links;
        begin_ = message.text.size();
        gap_ = hidden_gap_ = Gap::none;
        open_.clear();
        overflow_ = 0;
        anchor_ = Links::kNone;
        has_image_ = false;
        visible_bytes_ = 0;
        body_style_ = {};
        is_hidden_ = false;
        seen_elements_.reset();
        for (const std::string_view tag : message.tags) seen_elements_.set(find_element(tag));
        if (!message.hidden.empty()) message.hidden.push_back('\n');
    }

    void finish() {
        message_->flags.set(Flag::html);
        message_->flags.set(Flag::image_without_text, has_image_ && visible_bytes_ < kMinTextBytes);
    }

    const Style& style() const { return open_.empty() ? body_style_ : open_.back().style; }

    static void widen(Gap& gap, Gap wanted) { gap = std::max(gap, wanted); }

    void append_text(std::string_view text) {
        std::string& out = is_hidden_ ? message_->hidden : message_->text;
        const std::size_t before = out.size();
        append_spaced(text, out, is_hidden_ ? 0 : begin_, is_hidden_ ? hidden_gap_ : gap_);
        if (is_hidden_) message_->flags.set(Flag::hidden_text, out.size() != before);
        else visible_bytes_ += out.size() - before;
    }

    // Append a text with collapsed white space, none at the start of `out`.
    static void append_spaced(std::string_view text, std::string& out, std::size_t start, Gap& gap) {
        for (std::size_t at = 0; at < text.size();) {
            if (is_space(text[at])) {
                widen(gap, Gap::space);
                ++at;
                continue;
            }
            const bool needs_gap = gap != Gap::none && out.size() != start && out.back() != '\n';
            if (needs_gap) out.push_back(gap == Gap::line ? '\n' : ' ');
            gap = Gap::none;
            std::size_t end = at;
            while (end < text.size() && !is_space(text[end]) && text[end] != '&') ++end;
            out.append(text.substr(at, end - at));
            at = end < text.size() && text[end] == '&' ? append_reference(text, end, false, out) : end;
        }
    }

    // Process the markup that begins with the '<' at `at`; return its end.
    std::size_t markup(std::string_view source, std::size_t at, CommentScanner& comments) {
        const char next = at + 1 < source.size() ? source[at + 1] : ' ';
        const bool is_end = next == '/' && at + 2 < source.size();
        if (is_letter(is_end ? source[at + 2] : next)) {
            read_tag(source, at, tag_);
            return tag(source);
        }
        if (next == '!' || next == '?' || is_end) {
            const std::size_t end = comments.skip(at);
            const bool in_word = at > 0 && is_letter(source[at - 1]) && end < source.size() && is_letter(source[end]);
            message_->flags.set(Flag::comment_in_word, in_word);
            return end;
        }
        append_text(source.substr(at, 1));
        return at + 1;
    }

    std::size_t tag(std::string_view source) {
        scratch_ = tag_.name.substr(0, kMaxTagBytes);
        lower_in_place(scratch_);
        const std::size_t element = find_element(scratch_);
        if (element == kUnknown) {
            message_->flags.set(Flag::unknown_tag, tag_.name.find(':') == kNotFound);
            return tag_.end;
        }
        if (!seen_elements_.test(element)) {
            seen_elements_.set(element);
            message_->tags.push_back(kElements[element].name);
        }
        const std::uint8_t behaviour = kElements[element].behaviour;
        const Gap apart = behaviour & kBlock ? Gap::line : behaviour & kCell ? Gap::space : Gap::none;
        widen(gap_, apart);
        widen(hidden_gap_, apart);
        if (tag_.is_end) close(element);
        else open(element);
        if (!std::exchange(is_hidden_, style().is_hidden())) widen(hidden_gap_, Gap::space);
        return (behaviour & kRaw) && !tag_.is_end ? raw(source, element) : tag_.end;
    }

    std::size_t raw(std::string_view source, std::size_t element) {
        const std::size_t end = find_raw_end(source, tag_.end, kElements[element].name);
        if (element == kTitle) title(source.substr(tag_.end, end - tag_.end));
        message_->flags.set(Flag::script, element == kScript);
        return end;
    }

    void title(std::string_view text) {
        widen(hidden_gap_, Gap::line);
        append_spaced(text, message_->hidden, 0, hidden_gap_);
        widen(hidden_gap_, Gap::line);
    }

    void open(std::size_t element) {
        const std::uint8_t behaviour = kElements[element].behaviour;
        if (behaviour & kSimilar) close_similar(element);
        Style inner = style();
        attributes(element, inner);
        set_element_flags(element);
        if (behaviour & (kVoid | kRaw)) return;
        if (element == kBody) body_style_ = inner;
        if (open_.size() == kMaxDepth) ++overflow_;
        else open_.push_back({element, inner});
    }

    void close(std::size_t element) {
        if (element == kA) end_anchor();
        if (overflow_ > 0) {
            --overflow_;
            return;
        }
        const bool crosses_scope = (kElements[element].behaviour & (kScope | kBlock)) != 0 && element != kP;
        for (std::size_t at = open_.size(); at-- > 0;) {
            if (open_[at].element == element) return open_.resize(at);
            if ((kElements[open_[at].element].behaviour & kScope) && !crosses_scope) return;
        }
    }

    // Close the nearest open element of the same kind, unless an enclosing table or list is in between.
    void close_similar(std::size_t element) {
        for (std::size_t at = open_.size(); at-- > 0;) {
            const std::size_t other = open_[at].element;
            if (other == element) return open_.resize(at);
            if (other == kTable || other == kUl || other == kOl) return;
            if ((kElements[other].behaviour & kScope) && element != kTr) return;
        }
    }

    void attributes(std::size_t element, Style& inner) {
        if (element == kA) end_anchor();
        for (std::size_t i = 0; i < tag_.count; ++i) {
            const auto& [name, value] = tag_.attributes[i];
            store_attribute(name, value);
            if (equals_ignore_case(name, "style")) apply_style_attribute(value, inner);
            else if (equals_ignore_case(name, "hidden")) inner.is_not_displayed = true;
            else if (equals_ignore_case(name, "color") || equals_ignore_case(name, "text"))
                inner.text_colour = parse_colour(value);
            else if (equals_ignore_case(name, "bgcolor")) inner.background = parse_colour(value);
            else if (equals_ignore_case(name, "href")) link(element, value, Origin::href);
            else if (equals_ignore_case(name, "src")) link(element, value, Origin::src);
            else if (equals_ignore_case(name, "action")) link(element, value, Origin::action);
            else if (equals_ignore_case(name, "background")) {
                inner.background = kNoColour;
                link(element, value, Origin::background);
            } else if (equals_ignore_case(name, "http-equiv"))
                message_->flags.set(Flag::meta_refresh, element == kMeta && equals_ignore_case(trim(value), "refresh"));
            else if (starts_with_ignore_case(name, "on") && name.size() > 4) message_->flags.set(Flag::event_handler);
        }
    }

    void store_attribute(std::string_view name, std::string_view value) {
        name = lower_truncated(name);
        message_->attributes.push_back({name, lower_truncated(value)});
    }

    // A text in lower case, truncated at a character boundary.
    std::string_view lower_truncated(std::string_view text) {
        scratch_ = text.substr(0, kMaxAttributeBytes + 1);
        truncate_utf8(scratch_, kMaxAttributeBytes);
        lower_in_place(scratch_);
        return message_->arena.keep(scratch_);
    }

    void apply_style_attribute(std::string_view value, Style& inner) {
        if (value.find('&') == kNotFound) return mail::apply_declarations(value, inner);
        scratch_.clear();
        append_decoded(value, scratch_);
        mail::apply_declarations(scratch_, inner);
    }

    void link(std::size_t element, std::string_view value, Origin origin) {
        scratch_.clear();
        append_decoded(value, scratch_);
        const std::size_t added = links_->add(scratch_, origin);
        if (element == kImg && origin == Origin::src) {
            has_image_ = true;
            message_->flags.set(Flag::remote_image, added != Links::kNone);
        }
        if (element != kA || origin != Origin::href) return;
        anchor_ = added;
        anchor_begin_ = message_->text.size();
    }

    void set_element_flags(std::size_t element) {
        message_->flags.set(Flag::form, element == kForm);
        message_->flags.set(Flag::iframe, std::find(kEmbedded.begin(), kEmbedded.end(), element) != kEmbedded.end());
    }

    void end_anchor() {
        if (anchor_ != Links::kNone)
            links_->check_link_text(anchor_, std::string_view(message_->text).substr(anchor_begin_));
        anchor_ = Links::kNone;
    }

    Message* message_ = nullptr;
    Links* links_ = nullptr;
    std::size_t begin_ = 0;  // start of the text of the document
    // Pending separators before the next visible and hidden text.
    Gap gap_ = Gap::none, hidden_gap_ = Gap::none;
    std::vector<OpenElement> open_;
    std::size_t overflow_ = 0;  // open elements beyond the maximum depth
    Style body_style_;
    bool is_hidden_ = false, has_image_ = false;
    std::size_t visible_bytes_ = 0;
    std::size_t anchor_ = Links::kNone, anchor_begin_ = 0;
    std::bitset<kElements.size()> seen_elements_;
    Tag tag_;
    std::string scratch_;
};

Html::Html() : reader_(std::make_unique<DocumentReader>()) {}
Html::~Html() = default;

void Html::append(std::string_view source, Message& message, Links& links) { reader_->read(source, message, links); }

}  // namespace weigh::mail
