#!/usr/bin/env bash
# attack: SIGTERM leaves .weigh-… files beside the output
# now: SIGTERM, SIGHUP and Ctrl-C remove the temporary file; the old output stays
# test: tests/cli/test_killed_writers.py::test_a_signal_ends_a_command_without_a_draft_and_with_the_old_output
ulimit -v 4000000
python - <<'P'
with open("rows.csv", "w") as f:
    f.write("x,z,y\n")
    f.writelines(f"{i},{i % 13}.5,{'ab'[i % 2]}\n" for i in range(60_000))
P
weigh fit rows.csv --label y -o m.weigh > /dev/null 2>&1
echo old > out.csv
failed=0
for signal in TERM HUP; do
  weigh predict m.weigh rows.csv -o out.csv 2> /dev/null &
  pid=$!
  until ls .weigh-* > /dev/null 2>&1 || ! kill -0 $pid 2> /dev/null; do sleep 0.002; done
  kill -$signal $pid
  wait $pid 2> /dev/null
  code=$?
  [ $code -eq 143 ] || [ $code -eq 129 ] || failed=1
  echo "after SIG$signal: exit $code, left: $(ls -A | grep -c '^\.weigh-'), output: $(cat out.csv | head -1)"
  ls -A | grep -q '^\.weigh-' && failed=1
  [ "$(cat out.csv)" = old ] || failed=1
  rm -f .weigh-*
done
exit $failed
