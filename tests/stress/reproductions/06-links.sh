#!/usr/bin/env bash
# attack: -o silently follows a symbolic link
# now: the target is replaced and a note says so; a link to nothing and a cyclic link are refused
# test: tests/cli/test_killed_writers.py::test_output_through_a_link_replaces_its_target_and_says_so
ulimit -v 4000000
printf 'x,y\n1,a\n2,b\n3,a\n4,b\n' > rows.csv
echo old > real.weigh
ln -s real.weigh link.weigh
ln -s nowhere dangling.weigh
ln -s cycle.weigh cycle.weigh
weigh fit rows.csv --label y -o link.weigh > /dev/null 2> note.txt
cat note.txt
grep -q 'note: link.weigh is a link to .*real.weigh; that file was replaced' note.txt || exit 1
[ -L link.weigh ] || exit 1
for link in dangling cycle; do
  weigh fit rows.csv --label y -o $link.weigh > /dev/null 2> error.txt && { echo "$link: written"; exit 1; }
  tail -1 error.txt
done
[ ! -e nowhere ]
