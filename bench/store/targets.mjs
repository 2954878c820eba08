/** The store's targets. */

const divide = (above, below) => (above === undefined || below === undefined ? null : above / below)

export function storeTargets({ conversation, longSession, cold }) {
  if (!conversation && !longSession && !cold) return []
  const by = conversation?.contestants ?? {}
  const floor = by.floor?.atEnd.median
  const langgraph = by.langgraph
  const lines = []
  // Both are held against the same floor, one durable write. One call is the documented way for what belongs to one step;
  // the built-in agent makes two, because the files are captured after the turn's end is on disk.
  for (const name of ["keepup, one call", "keepup, two calls"]) {
    const row = by[name]
    const turn = `append + checkpoint record at turn ${conversation?.turns ?? 2000} (${name.slice(8)})`
    lines.push(
      { what: `${turn}, against the floor`, limit: "at most 3 x", atMost: 3, value: divide(row?.atEnd.median, floor) },
      {
        what: "  growth from first to last tenth",
        limit: "flat (at most 1.25 x)",
        atMost: 1.25,
        value: row?.growth.ratio ?? null,
      },
      {
        what: "  LangGraph's saver takes longer by",
        limit: "at least 50 x",
        atLeast: 50,
        value: divide(langgraph?.atEnd.median, row?.atEnd.median),
      },
    )
  }
  const bytes = by["keepup, two calls"]?.databaseBytes
  const [short, long] = Object.values(longSession?.lastMessages ?? {})
  const [near, far] = Object.values(longSession?.branch ?? {})
  const node = cold?.["node -e 0"]?.median
  const entries = (longSession?.entries ?? 1_000_000).toLocaleString("en")
  return [
    ...lines,
    {
      what: "LangGraph's database is larger by",
      limit: "at least 100 x",
      atLeast: 100,
      value: divide(langgraph?.databaseBytes, bytes),
    },
    {
      what: "database against plain text",
      limit: "at most 4 x",
      atMost: 4,
      value: divide(bytes, conversation?.plainTextBytes),
    },
    {
      what: `last 50 messages of ${entries} entries`,
      limit: "under 2 ms",
      atMost: 2,
      unit: "ms",
      value: long?.median ?? null,
    },
    { what: "  against 1,000 entries", limit: "at most 2 x", atMost: 2, value: divide(long?.median, short?.median) },
    {
      what: `a branch at entry ${entries}, against entry 10`,
      limit: "at most 2 x",
      atMost: 2,
      value: divide(far?.median, near?.median),
    },
    {
      what: "open and append one entry from a cold process, against node -e 0",
      limit: "at most 1.6 x",
      atMost: 1.6,
      value: divide(cold?.["keepup, CommonJS bundle"]?.median, node),
    },
  ]
}
