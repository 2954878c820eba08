import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createEventStreamReader } from "./event-stream.js"

describe("the event stream", () => {
  it("reads events, their ids and data of several lines, and leaves comments out", () => {
    const read = createEventStreamReader()
    expect(read(": hello\n\nid: 7\nevent: entry\ndata: a\ndata:b\n\ndata: c\n\nevent: empty\n\n")).toEqual([
      { type: "entry", data: "a\nb", id: "7" },
      { type: "message", data: "c", id: "7" },
    ])
  })

  it("gives the same events wherever the pieces end", () => {
    const whole = "id: 1\r\nevent: entry\r\ndata: {}\r\n\r\nid: 2\ndata: x\n\n: beat\n\nid: 3\rdata: y\r\r"
    const wanted = createEventStreamReader()(`${whole}\n`)
    expect(wanted).toHaveLength(3)
    fc.assert(
      fc.property(fc.array(fc.nat({ max: whole.length })), (cuts) => {
        const read = createEventStreamReader()
        const at = [0, ...cuts.sort((a, b) => a - b), whole.length]
        const pieces = at.slice(1).map((end, index) => whole.slice(at[index], end))
        expect([...pieces, "\n"].flatMap(read)).toEqual(wanted)
      }),
    )
  })
})
