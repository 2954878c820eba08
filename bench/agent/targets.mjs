/** The agent's targets. */

const divide = (above, below) => (above === undefined || below === undefined ? null : above / below)

export function agentTargets({ steps, resume }) {
  if (!steps && !resume) return []
  const lines = ["durable, in git", "durable, without git"].flatMap((name) => [
    {
      what: `what durability adds to a step (${name.slice(9)})`,
      limit: "at most 5 ms of quiet time",
      atMost: 5,
      unit: "ms",
      value: steps?.[name]?.addedQuiet ?? null,
    },
    {
      what: `  growth over ${steps?.rounds ?? 2_000} steps`,
      limit: "flat (at most 1.25 x)",
      atMost: 1.25,
      value: steps?.[name]?.growth ?? null,
    },
  ])
  const [short, long] = ["open and resume 100", "open and resume 10000"].map((name) => resume?.[name]?.median)
  return [
    ...lines,
    { what: "resume at 10,000 entries, against 100", limit: "at most 3 x", atMost: 3, value: divide(long, short) },
    { what: "  to the first model call", limit: "under 1,000 ms", atMost: 1_000, unit: "ms", value: long ?? null },
  ]
}
