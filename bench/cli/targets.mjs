/** The command line's targets. */
import { limit } from "./create.mjs"

const divide = (above, below) => (above === undefined || below === undefined ? null : above / below)

export function cliTargets({ start, create, hook }) {
  if (!start && !create && !hook) return []
  const against = (name, rows = start) => divide(rows?.[name]?.wall.median, rows?.["node -e 0"]?.wall.median)
  const lines = [
    {
      what: "keepup --version, against node -e 0",
      limit: "at most 1.5 x",
      atMost: 1.5,
      value: against("keepup --version"),
    },
    {
      what: "keepup checkpoint list (50 rows), against node -e 0",
      limit: "at most 2 x",
      atMost: 2,
      value: against("keepup checkpoint list"),
    },
    {
      what: "a hook: append an entry and answer, against node -e 0",
      limit: "at most 1.3 x",
      atMost: 1.3,
      value: against("append and answer", hook),
    },
  ]
  for (const where of ["in git", "without git"]) {
    const took = create?.[`keepup checkpoint create, ${where}`]?.wall.median
    lines.push({
      what: `keepup checkpoint create, one changed file in 1,000 (${where})`,
      limit: "at most 1.5 x git add and commit + node -e 0",
      atMost: 1,
      unit: "of the limit",
      value: create ? divide(took, limit(create, "wall", "median")) : null,
    })
  }
  return lines
}
