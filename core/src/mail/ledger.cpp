#include "weigh/mail/ledger.h"

#include <algorithm>
#include <stdexcept>

namespace weigh::mail {

namespace {

// The rows of one view.
Rows rows_of_view(const std::vector<Row*>& rows, const HashedFeatures& features, std::size_t view) {
    return Rows(rows).subspan(view == 0 ? 0 : features[0].size(), features[view].size());
}

std::uint64_t& count_of(Totals& totals, bool spam) { return spam ? totals.spams : totals.hams; }

void require_labels(std::span<const HashedFeatures> messages, std::string_view labels) {
    if (labels.size() != messages.size()) throw std::invalid_argument("there must be one label per message");
    if (!std::all_of(labels.begin(), labels.end(), [](char label) { return label == 0 || label == 1; }))
        throw std::invalid_argument("labels must be zero or one");
}

}  // namespace

std::size_t Ledger::features() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(table_.all(), [](const Slot& slot) { return slot.key != 0 && !slot.row.is_empty(); }));
}

void Ledger::learn(std::span<const HashedFeatures> messages, std::string_view labels) {
    require_labels(messages, labels);
    if (messages.size() > kMaxMessages - totals_.messages())
        throw std::invalid_argument("a ledger counts no more than 2,147,483,647 messages");
    std::vector<Row*> rows;
    for (std::size_t at = 0; at < messages.size(); ++at) {
        table_.find_or_add(messages[at], rows);
        const bool is_spam = labels[at] != 0;
        for (std::size_t view = 0; view < kViews; ++view)
            learner_->learn(rows_of_view(rows, messages[at], view), view, is_spam, totals_);
        ++count_of(totals_, is_spam);
    }
}

void Ledger::unlearn(std::span<const HashedFeatures> messages, std::string_view labels) {
    require_labels(messages, labels);
    if (!learner_->can_unlearn()) throw std::invalid_argument("this learner cannot unlearn");
    std::vector<Row*> rows;
    for (std::size_t at = 0; at < messages.size(); ++at)
        if (!unlearn(messages[at], labels[at] != 0, rows)) {
            learn(messages.first(at), labels.substr(0, at));
            throw std::invalid_argument("a message that was not learned cannot be unlearned");
        }
}

bool Ledger::unlearn(const HashedFeatures& features, bool spam, std::vector<Row*>& rows) {
    Row absent;
    table_.find(features, absent, rows);
    std::uint64_t& count = count_of(totals_, spam);
    if (count == 0 || !learner_->unlearn(rows, spam)) return false;
    --count;
    return true;
}

void Ledger::judge(std::span<const HashedFeatures> messages, std::span<double> scores) const {
    std::vector<Row*> rows;
    std::vector<double> contributions;
    Row absent;
    for (std::size_t at = 0; at < messages.size(); ++at) {
        table_.find(messages[at], absent, rows);
        double score = 0;
        for (std::size_t view = 0; view < kViews; ++view) {
            const Rows view_rows = rows_of_view(rows, messages[at], view);
            contributions.resize(view_rows.size());
            score += learner_->evidence(view_rows, view, totals_, contributions);
            for (const double contribution : contributions) score += contribution;
        }
        scores[at] = score;
    }
}

std::vector<Contribution> Ledger::evidence(const HashedFeatures& features) const {
    std::vector<Row*> rows;
    std::vector<double> contributions;
    Row absent;
    table_.find(features, absent, rows);
    std::vector<Contribution> evidence;
    for (std::size_t view = 0; view < kViews; ++view) {
        const Rows view_rows = rows_of_view(rows, features, view);
        contributions.resize(view_rows.size());
        const double bias = learner_->evidence(view_rows, view, totals_, contributions);
        if (bias != 0) evidence.push_back({view, 0, bias});
        for (std::size_t at = 0; at < view_rows.size(); ++at)
            if (!view_rows[at]->is_empty()) evidence.push_back({view, features[view][at], contributions[at]});
    }
    return evidence;
}

}  // namespace weigh::mail
