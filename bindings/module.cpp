#include <nanobind/nanobind.h>

void bind_count(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_encode(nanobind::module_& m);
void bind_score(nanobind::module_& m);
void bind_sums(nanobind::module_& m);

NB_MODULE(_core, m) {
    m.doc() = "Loops that touch every value: reading, counting, encoding, exact sums, scoring.";
    bind_count(m);
    bind_csv(m);
    bind_encode(m);
    bind_score(m);
    bind_sums(m);
}
