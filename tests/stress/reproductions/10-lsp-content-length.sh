#!/bin/bash
# attack: the header 'Content-Length: 99999999999' ends the language server
# now: the message is skipped with a line in the editor's log, and the next request is answered
# test: tests/apps/spelling/language_server/test_message_reader.py::test_bad_headers_are_reported_and_later_messages_are_read
ulimit -v 4000000
python - > stream <<'PY'
import json, sys
def frame(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body
out = sys.stdout.buffer
out.write(frame(id=1, method="initialize", params={"capabilities": {}, "processId": None, "rootUri": None}))
for header in (b"99999999999", b"-5", b"abc", b"9" * 5000, b"5\r\nContent-Length: 7"):
    out.write(b"Content-Length: " + header + b"\r\n\r\n")
out.write(b"Content-Type: x\r\n\r\n" + b"X: a\r\n" * 5000)
out.write(frame(id=2, method="shutdown") + frame(method="exit"))
PY
timeout 15 weigh spell lsp < stream > answers; code=$?
grep -a -o 'A message was skipped[^"]*' answers
echo "exit code $code"
[ $code = 0 ] && grep -a -q '"id": 2' answers
