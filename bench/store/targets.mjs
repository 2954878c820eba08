/** The store's targets. */

const divide = (above, below) => (above === undefined || below === undefined ? null : above / below)

export function storeTargets({ conversation, longSession, cold }) {
  if (!conversation && !longSession && !cold) return []
  const by = conversation?.contestants ?? {}
  const floor = by.floor?.atEnd.median
  const langgraph = by.langgraph
  const lines = []
  // One call is the way for what belongs to one step: all of it is on disk with one turn of the disk, as the floor's write
  // is. Two calls are two promises, each kept before the next is made; they are held against two writes of the floor.
  for (const [name, writes] of [
    ["keepup, one call", 1],
    ["keepup, two calls", 2],
  ]) {
    const row = by[name]
    const turn = `append + checkpoint record at turn ${conversation?.turns ?? 2000} (${name.slice(8)})`
    const against = writes === 1 ? "the floor" : "two writes of the floor"
    const value = divide(row?.atEnd.median, floor === undefined ? undefined : floor * writes)
    lines.push(
      { what: `${turn}, against ${against}`, limit: "at most 3 x", atMost: 3, value },
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
