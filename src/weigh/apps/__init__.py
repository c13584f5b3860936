"""Applications built on the other packages: a mail filter and a spelling checker."""
