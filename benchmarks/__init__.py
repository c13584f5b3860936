"""Side-by-side measurements with other software; never imported by the library."""
