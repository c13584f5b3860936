-- For wrk: post the lines of a file in turns, one per request, and print a summary as JSON.
local requests, position = {}, 0

function init(args)
  local headers = {["Content-Type"] = "application/json"}
  for body in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format("POST", nil, headers, body)
  end
end

function request()
  position = position % #requests + 1
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format(
    '{"requests": %d, "failures": %d, "seconds": %.6f, "p50": %.6f, "p99": %.6f}',
    summary.requests, failures, summary.duration / 1e6,
    latency:percentile(50) / 1e6, latency:percentile(99) / 1e6))
end
