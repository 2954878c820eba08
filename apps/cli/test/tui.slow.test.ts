import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type OpenTerminalOptions, openTerminal, type Terminal } from "./open-terminal.js"
import { buildOnce, openPlace, type Place } from "./real-keepup.js"

let place: Place
let terminals: Terminal[]

beforeAll(buildOnce)

beforeEach(() => {
  place = openPlace()
  terminals = []
})

afterEach(async () => {
  for (const terminal of terminals) {
    terminal.kill("SIGKILL")
    await terminal.ended
  }
  place.remove()
})

const write = (path: string, content: string) => ({ name: "write_file", arguments: { path, content } })

const answers = [
  { content: "I write a file.", toolCalls: [write("a.txt", "one\n")] },
  { content: "The file is there." },
  { content: "I write another one.", toolCalls: [write("b.txt", "two\n")] },
  { content: "That one is there too." },
]

/** A chat that waits for the first key. */
async function open(words: readonly string[], options: OpenTerminalOptions = {}): Promise<Terminal> {
  const terminal = openTerminal(place, words, options)
  terminals.push(terminal)
  await terminal.sees("checkpoint")
  return terminal
}

describe("the chat in a terminal", () => {
  it("talks, makes checkpoints, rewinds, shows both sessions, resumes, compares and takes back", async () => {
    const chat = await open(["--script", place.script(answers), "--approval", "auto"])
    chat.enter("make a file")
    await chat.sees(/The file is there\.[\s\S]*run ended/)
    expect(place.read("a.txt")).toBe("one\n")
    chat.enter("make another one")
    await chat.sees(/That one is there too\.[\s\S]*run ended/)
    chat.enter("/checkpoint before")
    await chat.sees("Checkpoint created at message #8")
    chat.enter("/checkpoints")
    const drawn = await chat.sees("Use `/rewind <#>` to restore to a checkpoint.")
    expect(drawn).toContain("[0] --> [3] --> [4]")
    expect(drawn).toMatch(/# \| Msg \| Event +\| Time/)
    chat.enter("/rewind 99")
    await chat.sees(/There is no checkpoint #99\. Valid: #1 to #\d+\./)
    chat.enter("/rewind 1")
    await chat.sees("Rewound to checkpoint #1. Original session preserved.")
    expect(existsSync(join(place.workspace, "a.txt"))).toBe(false)
    chat.enter("/sessions")
    const both = await chat.sees("Use `/resume <id>` to go on with one.")
    expect(both).toContain("make a file (rewind from #1)")
    const origin = /(\w{8}) {2}make a file {2}\(/.exec(both)?.[1] as string
    chat.enter("/undo")
    await chat.sees("The restore was taken back")
    expect(place.read("b.txt")).toBe("two\n")
    chat.enter(`/resume ${origin}`)
    await chat.sees('Session "make a file"')
    chat.enter("/diff 1")
    await chat.sees("+two")
    chat.enter("/quit")
    await chat.sees(`Go on with: keepup chat -S ${origin}`)
    expect(await chat.ended).toBe(0)
  })

  it("asks in place, and Ctrl-C stops a turn, and twice leaves", async () => {
    const slow = { name: "run_command", arguments: { command: "sleep 60" } }
    const chat = await open(["chat", "--script", place.script([{ content: "Slow.", toolCalls: [slow] }])])
    chat.enter("go")
    await chat.sees("Allow run_command sleep 60?")
    chat.type("y")
    await chat.sees("Running run_command")
    chat.type("\u0003")
    await chat.sees("Stopped. Everything up to here is kept")
    chat.type("\u0003")
    await chat.sees("again to leave")
    chat.type("\u0003")
    await chat.sees("Go on with: keepup chat -S")
    expect(await chat.ended).toBe(0)
  })

  it("killed with a call in flight, the next start offers to go on and asks about the call", async () => {
    const slow = { name: "run_command", arguments: { command: "while [ ! -e go ]; do sleep 0.1; done" } }
    const script = place.script([{ content: "On it.", toolCalls: [slow] }, { content: "Back again." }])
    const chat = await open(["chat", "--script", script, "--approval", "auto"])
    chat.enter("do it")
    await chat.sees("Running run_command")
    chat.enter("and then this")
    await chat.sees("next: and then this")
    chat.type("half a thought")
    await chat.sees("half a thought")
    chat.kill("SIGKILL")
    await chat.ended
    place.write("go", "")
    const next = await open(["chat", "--approval", "auto"])
    await next.sees('Session "do it" was cut off')
    next.type("y")
    await next.sees("This call was in flight when the process died")
    next.type("s")
    await next.sees("Back again.")
    await next.sees("and then this")
  })

  it("two chats in one session see each other, and that one was killed", async () => {
    const slow = { name: "run_command", arguments: { command: "sleep 600" } }
    const script = place.script([{ content: "Hi." }, { content: "Slow.", toolCalls: [slow] }, { content: "Mine." }])
    const chat = await open(["chat", "--script", script, "--approval", "auto"])
    chat.enter("hello")
    await chat.sees(/Hi\.[\s\S]*run ended/)
    const other = await open(["chat", "-S", "latest", "--approval", "auto"])
    await other.sees("Hi.")
    other.enter("take long")
    await chat.sees("Another process goes on with this session")
    await chat.sees("Slow.")
    chat.enter("and mine")
    await chat.sees(/Session \w{8} is in use\. Held by run[\s\S]*runs in another process/)
    other.kill("SIGKILL")
    await other.ended
    await chat.sees("The other process died. What it did is kept.")
  })

  it("killed while it waits, it offers to go on and shows what was said", async () => {
    const script = place.script([{ content: "First answer." }, { content: "Second answer." }])
    const chat = await open(["chat", "--script", script])
    chat.enter("hello")
    await chat.sees(/First answer\.[\s\S]*run ended/)
    chat.kill("SIGKILL")
    await chat.ended
    const next = await open(["chat"])
    await next.sees('Session "hello" was cut off')
    next.type("y")
    await next.sees("First answer.")
    next.enter("more")
    await next.sees("Second answer.")
  })

  it("follows the size of the terminal", async () => {
    const words = "word ".repeat(60).trim()
    const chat = await open(["chat", "--script", place.script([{ content: words }, { content: words }])])
    chat.resize(40, 12)
    await chat.sees(/^─{39}$/m)
    chat.enter("narrow")
    const narrow = await chat.sees(/run ended/)
    for (const line of narrow.split("\n")) expect(line.length).toBeLessThanOrEqual(40)
    chat.resize(120, 30)
    await chat.sees(/^─{119}$/m)
    chat.enter("wide")
    await chat.sees("run ended")
  })

  it("draws no colours with NO_COLOR", async () => {
    const chat = await open(["chat", "--script", place.script(answers), "--approval", "auto"], {
      environment: { NO_COLOR: "1" },
    })
    chat.enter("make a file")
    await chat.sees(/The file is there\.[\s\S]*run ended/)
    // inverse is how the place of the next character is shown: it is no colour
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(chat.raw().replace(/\u001b\[2?7m/g, "")).not.toMatch(/\u001b\[[0-9;]*[1-9][0-9;]*m/)
  })

  it("a signal from outside leaves with everything kept", async () => {
    const chat = await open(["chat", "--script", place.script([{ content: "Hi." }])])
    chat.enter("hello")
    await chat.sees(/Hi\.[\s\S]*run ended/)
    process.kill(chat.pid, "SIGTERM")
    await chat.ended
    expect(place.ask("session", "list").sessions[0].status).toBe("paused")
  })
})

describe("without a terminal", () => {
  it("keepup alone is help, and the chat says what to use instead", () => {
    expect(place.run().out).toContain("keepup")
    const { code, err } = place.run("chat")
    expect(code).toBe(2)
    expect(err).toContain("The chat needs a terminal.")
  })
})
