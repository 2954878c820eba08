/** The server's targets. */
export function coworkTargets({ steady, killed }) {
  if (!steady && !killed) return []
  const growth = steady && steady.memoryMb.end / steady.memoryMb.middle
  return [
    { what: "errors, 200 streams and 500 requests/s", limit: "0", atMost: 0, unit: "", value: steady?.errors },
    {
      what: "answers a second, of 500 asked for",
      limit: "at least 490",
      atLeast: 490,
      unit: "/s",
      value: steady?.perSecond,
    },
    { what: "memory at the end against the middle", limit: "at most 1.1 x", atMost: 1.1, value: growth },
    {
      what: "entries missed or sent twice to 200 streams over a kill and a new start",
      limit: "0",
      atMost: 0,
      unit: "",
      value: killed && killed.gaps + killed.repeats,
    },
    {
      what: "errors over the kill, beside refused connections",
      limit: "0",
      atMost: 0,
      unit: "",
      value: killed?.errors,
    },
  ]
}
