import { EventEmitter } from "node:events"
import { describe, expect, it } from "vitest"
import { openScreenOutput } from "./screen-output.js"

function terminal(columns: number) {
  const written: string[] = []
  const write = (text: string) => written.push(text) > 0
  const stdout = Object.assign(new EventEmitter(), { columns, rows: 24, isTTY: true, write })
  return { written, stdout: stdout as unknown as NodeJS.WriteStream }
}

describe("the output Ink writes to", () => {
  it("never looks full, so that what was printed is not cleared", () => {
    const { stdout } = terminal(80)
    const { stream } = openScreenOutput(stdout)
    expect([stream.rows, stream.columns, stream.isTTY]).toEqual([Number.POSITIVE_INFINITY, 80, true])
  })

  it("erases the rows that lines were broken into when the terminal gets narrower, and nothing when wider", () => {
    const { stdout, written } = terminal(80)
    const { stream, close } = openScreenOutput(stdout)
    stream.write(`\u001b[2K${"─".repeat(79)}\n> \u001b[36mtext\u001b[39m\n`)
    written.length = 0
    stdout.columns = 30
    stdout.emit("resize")
    expect(written).toEqual(["\u001b[2K\u001b[1A".repeat(2)])
    written.length = 0
    stdout.columns = 100
    stdout.emit("resize")
    expect(written).toEqual([])
    close()
    stdout.columns = 10
    stdout.emit("resize")
    expect(written).toEqual([])
  })
})
