/** Reads server-sent events from pieces of text as they arrive. A piece may end anywhere. */

export interface StreamEvent {
  readonly type: string
  readonly data: string
  readonly id: string | null
}

/** Give it each piece; it returns the events that are complete. */
export function createEventStreamReader(): (piece: string) => StreamEvent[] {
  let rest = ""
  let type = ""
  let data: string[] = []
  let id: string | null = null
  return (piece) => {
    const events: StreamEvent[] = []
    // a carriage return at the end may be half of a line end
    const text = rest + piece
    const held = text.endsWith("\r") ? "\r" : ""
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\r|\n/)
    rest = (lines.pop() as string) + held
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) events.push({ type: type || "message", data: data.join("\n"), id })
        type = ""
        data = []
        continue
      }
      const colon = line.indexOf(":")
      if (colon === 0) continue
      const field = colon < 0 ? line : line.slice(0, colon)
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
      if (field === "event") type = value
      else if (field === "data") data.push(value)
      else if (field === "id" && !value.includes("\0")) id = value
    }
    return events
  }
}
