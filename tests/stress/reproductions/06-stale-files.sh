#!/usr/bin/env bash
# attack: the .weigh-… file of a killed process stays for ever
# now: the next write in the same folder removes it; the file of a running process stays
# test: tests/cli/test_killed_writers.py::test_the_draft_of_a_killed_command_is_removed_by_the_next_command
ulimit -v 4000000
python - <<'P'
with open("rows.csv", "w") as f:
    f.write("x,z,y\n")
    f.writelines(f"{i},{i % 13}.5,{'ab'[i % 2]}\n" for i in range(60_000))
P
weigh fit rows.csv --label y -o m.weigh > /dev/null 2>&1
weigh predict m.weigh rows.csv -o out.csv &
pid=$!
until ls .weigh-* > /dev/null 2>&1 || ! kill -0 $pid 2> /dev/null; do sleep 0.002; done
kill -KILL $pid
wait $pid 2> /dev/null
echo "after SIGKILL: $(ls -A | grep -c '^\.weigh-') left"
ls .weigh-* > /dev/null 2>&1 || { echo "it ended before it was killed"; exit 1; }
weigh fit rows.csv --label y -o m.weigh > /dev/null 2>&1
left=$(ls -A | grep -c '^\.weigh-')
echo "after the next write: $left left"
[ "$left" = 0 ]
