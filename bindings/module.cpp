#include <nanobind/nanobind.h>

void bind_association(nanobind::module_& m);
void bind_csr_builder(nanobind::module_& m);
void bind_count(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_coordinate_descent(nanobind::module_& m);
void bind_documents(nanobind::module_& m);
void bind_json_numbers(nanobind::module_& m);
void bind_leave_one_out(nanobind::module_& m);
void bind_logistic_dual(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_sgd(nanobind::module_& m);
void bind_mail(nanobind::module_& m);
void bind_mail_features(nanobind::module_& m);
void bind_mail_ledger(nanobind::module_& m);
void bind_name_indexer(nanobind::module_& m);
void bind_number_shapes(nanobind::module_& m);
void bind_perceptron(nanobind::module_& m);
void bind_softmax_dual(nanobind::module_& m);
void bind_sparse_products(nanobind::module_& m);
void bind_row_hash(nanobind::module_& m);
void bind_score(nanobind::module_& m);
void bind_spelling(nanobind::module_& m);
void bind_exact_sums(nanobind::module_& m);
void bind_svmlight(nanobind::module_& m);
void bind_term_weights(nanobind::module_& m);
void bind_tokenizer(nanobind::module_& m);
void bind_unicode(nanobind::module_& m);
void bind_vocabulary(nanobind::module_& m);
void bind_word_counts(nanobind::module_& m);

NB_MODULE(_core, m) {
    m.doc() =
        "Native kernels: parsing, tokenizing, counting, encoding, exact sums, scoring, perceptrons, "
        "stochastic gradient.";
    bind_association(m);
    bind_csr_builder(m);
    bind_count(m);
    bind_csv(m);
    bind_coordinate_descent(m);
    bind_documents(m);
    bind_json_numbers(m);
    bind_leave_one_out(m);
    bind_logistic_dual(m);
    bind_encode(m);
    bind_sgd(m);
    bind_mail(m);
    bind_mail_features(m);
    bind_mail_ledger(m);
    bind_name_indexer(m);
    bind_number_shapes(m);
    bind_perceptron(m);
    bind_softmax_dual(m);
    bind_sparse_products(m);
    bind_row_hash(m);
    bind_score(m);
    bind_spelling(m);
    bind_exact_sums(m);
    bind_svmlight(m);
    bind_term_weights(m);
    bind_tokenizer(m);
    bind_unicode(m);
    bind_vocabulary(m);
    bind_word_counts(m);
}
