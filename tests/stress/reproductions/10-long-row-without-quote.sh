#!/usr/bin/env bash
# attack: a long CSV row without any quote gives the message 'Close the quote that is open there'
# now: the advice about a quote is given only where a quote is open; otherwise the row is longer than a block
# test: tests/source/files/test_csv.py::test_a_long_row_without_an_open_quote_gets_no_advice_about_quotes
ulimit -v 4000000
python - > long.csv <<'PY'
print("x,y\n1,a\n2,b"); print("z" * (34 << 20) + ",a")
PY
weigh fit long.csv --label y -o m.weigh 2> err; code=$?
cat err
[ $code = 1 ] && ! grep -q quote err && grep -q "line 4: a row is longer than a block" err
