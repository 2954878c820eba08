/** The chat's targets. */

const divide = (above, below) => (above === undefined || below === undefined ? null : above / below)

export function chatTargets({ first, keys, memory }) {
  if (!first && !keys && !memory) return []
  return [
    {
      what: "first frame of the chat, against node -e 0",
      limit: "at most 8 x",
      atMost: 8,
      value: divide(first?.["first frame"]?.median, first?.["node -e 0"]?.median),
    },
    {
      what: "a key on the screen while an answer streams",
      limit: "within 50 ms of quiet time",
      atMost: 50,
      unit: "ms",
      value: keys?.median ?? null,
    },
    {
      what: `memory of the chat over ${memory?.answers ?? 10_000} streamed messages`,
      limit: "flat (last third at most 1.05 x the second)",
      atMost: 1.05,
      value: divide(memory?.late, memory?.middle),
    },
  ]
}
