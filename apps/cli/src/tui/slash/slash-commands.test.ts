import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openTestChat, type TestChat } from "../../testing/open-test-chat.js"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"
import { describeNumbers } from "./find-checkpoint.js"
import { findSlash, isSlash } from "./find-slash.js"
import { slashCommands } from "./slash-commands.js"

let machine: TestMachine
let chat: TestChat

const write = (path: string, content: string) => ({ name: "write_file", arguments: { path, content } })
const answers = [
  { content: "I write.", toolCalls: [write("a.txt", "one\n")] },
  { content: "Done." },
  { content: "I change.", toolCalls: [write("b.txt", "two\n")] },
  { content: "Changed." },
]

beforeEach(async () => {
  machine = createTestMachine()
  chat = await openTestChat(machine, { script: machine.script("answers.jsonl", answers) })
})

afterEach(async () => {
  await chat.leave()
  machine.remove()
})

/** What the command put on the screen. */
async function run(line: string): Promise<string> {
  const before = chat.shown().length
  await chat.say(line)
  // a command that changes nothing answers when it is ready
  await chat.until(() => chat.shown().slice(before).trim() !== `user: ${line}`, `answered ${line}`)
  return chat.shown().slice(before).replace(`\nuser: ${line}\n`, "")
}

describe("names", () => {
  it("are those people know", () => {
    expect(slashCommands.map(({ usage }) => usage)).toEqual([
      "/help",
      "/checkpoints",
      "/checkpoint [name]",
      "/rewind <#>",
      "/restore <#>",
      "/undo",
      "/diff [#]",
      "/sessions",
      "/resume <ref>",
      "/rename <name>",
      "/pause",
      "/export md|json [file]",
      "/import <file>",
      "/model [provider/name]",
      "/config [key value]",
      "/quit",
    ])
  })

  it("a slip gets the nearest one", () => {
    expect(() => findSlash("/rewnd 3")).toThrow("There is no command /rewnd.")
    expect(findSlash("/REWIND  3 ")).toMatchObject({ words: ["3"], text: "3", command: { name: "rewind" } })
    expect(isSlash("/help")).toBe(true)
    expect(isSlash("/usr/bin is a folder")).toBe(false)
  })

  it("numbers with gaps are told as ranges", () => {
    expect(describeNumbers([4, 3, 2, 1])).toBe("#1 to #4")
    expect(describeNumbers([1, 3, 4, 9])).toBe("#1, #3 to #4, #9")
  })
})

describe("without a session", () => {
  it.each(["/checkpoints", "/rewind 1", "/restore 1", "/diff", "/rename x", "/pause", "/export md"])(
    "%s says how to begin one",
    async (line) => {
      expect(await run(line)).toContain("There is no session yet.")
    },
  )

  it("/checkpoint begins one", async () => {
    expect(await run("/checkpoint start")).toContain("info: Checkpoint created at message #0")
    expect(chat.state().status.checkpointCount).toBe(2)
  })

  it("/undo says that there is nothing to undo", async () => {
    expect(await run("/undo")).toContain("There is no restore to undo in this workspace.")
  })

  it("/help opens help, /model and /config answer", async () => {
    chat.controller.send("/help")
    await chat.until(({ overlay }) => overlay?.kind === "help", "help")
    chat.controller.closeOverlay()
    expect(await run("/model")).toContain("The model is script answers.jsonl.")
    expect(await run("/config")).toContain("checkpoint.retention")
    expect(await run("/config checkpoint.retention 20")).toContain("checkpoint.retention is now 20")
    expect(await run("/config checkpoint.retention")).toContain("20")
    expect(await run("/config no.such")).toContain("There is no setting")
    expect(await run("/model nonsense")).toContain("Not a model")
    expect(await run("/model nowhere/model")).toContain("error:")
  })
})

describe("with a session", () => {
  beforeEach(async () => {
    await chat.say("make a.txt")
  })

  it("/checkpoints draws the timeline, the table and what to do next", async () => {
    const text = await run("/checkpoints")
    expect(text).toContain("[0] --> [3] --> [4]")
    expect(text).toMatch(/# \| Msg \| Event +\| Time/)
    expect(text).toContain("Use `/rewind <#>` to restore to a checkpoint.")
  })

  it("/checkpoint names the message it stands at", async () => {
    expect(await run("/checkpoint my name")).toMatch(/info: Checkpoint created at message #4\nIt is #\d+ "my name"\./)
  })

  it("/rewind goes on in a branch, /sessions shows both, /resume goes back", async () => {
    await chat.say("make b.txt")
    const origin = chat.state().status
    expect(await run("/rewind 2")).toContain("info: Rewound to checkpoint #2. Original session preserved.")
    expect(existsSync(join(machine.workspace, "b.txt"))).toBe(false)
    expect(chat.state().status.sessionName).toBe("make a.txt (rewind from #2)")
    const sessions = await run("/sessions")
    expect(sessions).toContain("make a.txt (rewind from #2)")
    expect(sessions).toContain(origin.sessionShortId)
    expect(await run("/undo")).toContain("The restore was taken back: 1 file written, 0 files deleted.")
    expect(machine.read("b.txt")).toBe("two\n")
    expect(await run(`/resume ${origin.sessionShortId}`)).toContain(`Session "make a.txt"`)
    expect(chat.state().status.sessionId).toBe(origin.sessionId)
  })

  it("/rewind with a number that is none tells the valid ones", async () => {
    const { checkpointCount } = chat.state().status
    const valid = `Valid: #1 to #${checkpointCount}.`
    expect(await run("/rewind 99")).toContain(`There is no checkpoint #99. ${valid}`)
    expect(await run("/rewind #0")).toContain(`There is no checkpoint #0. ${valid}`)
    expect(await run("/rewind -1")).toContain(`There is no checkpoint #-1. ${valid}`)
    expect(await run("/diff nowhere")).toContain(`There is no checkpoint "nowhere". ${valid}`)
    expect(await run("/rewind")).toContain("Which checkpoint?")
  })

  it("/restore shows the plan, does it on a yes, and /undo gives everything back", async () => {
    chat.controller.send("/restore 1")
    await chat.until(({ overlay }) => overlay?.kind === "confirm", "asked")
    expect(chat.state().overlay).toMatchObject({ question: "Restore?" })
    chat.controller.confirm(false)
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(chat.shown()).toContain("Nothing was changed.")
    expect(machine.read("a.txt")).toBe("one\n")
    chat.controller.send("/restore 1")
    await chat.until(({ overlay }) => overlay?.kind === "confirm", "asked again")
    chat.controller.confirm(true)
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(existsSync(join(machine.workspace, "a.txt"))).toBe(false)
    expect(chat.shown()).toContain("Take it back with: /undo")
    expect(chat.state().status.changedFiles).toBe(0)
    expect(await run("/undo")).toContain("Everything is as it was before it.")
    expect(machine.read("a.txt")).toBe("one\n")
    expect(chat.state().status.changedFiles).toBe(1)
    const again = await run("/undo")
    expect(again).toContain("There is no restore to undo in this workspace.")
    expect(again).toContain("`/checkpoints` shows what you can go back to.")
  })

  it("/diff shows a patch since a checkpoint, or that nothing changed", async () => {
    expect(await run("/diff 1")).toContain("+one")
    expect(await run("/diff")).toMatch(/No differences since #\d+\./)
  })

  it("/rename changes the name in the status", async () => {
    await run("/rename Better name")
    expect(chat.state().status.sessionName).toBe("Better name")
    expect(await run("/rename")).toContain("A session needs a name.")
  })

  it("/pause pauses, and a message goes on", async () => {
    expect(await run("/pause")).toContain("Paused, and kept in a checkpoint.")
    expect(chat.state().status.isPaused).toBe(true)
    await chat.say("make b.txt")
    expect(chat.state().status.isPaused).toBe(false)
  })

  it("/export writes a text or everything, and /import takes it in", async () => {
    expect(await run("/export md talk.md")).toContain("talk.md")
    expect(readFileSync(join(machine.workspace, "talk.md"), "utf8")).toContain("make a.txt")
    expect(await run("/export json all.json")).toContain("all.json")
    const [header] = JSON.parse(readFileSync(join(machine.workspace, "all.json"), "utf8"))
    expect(header).toMatchObject({ format: "keepup-session", sessionId: chat.state().status.sessionId })
    expect(await run("/import all.json")).toContain(`"make a.txt" is session`)
    expect(await run("/export pdf")).toContain(`There is no format "pdf".`)
    expect(await run("/import nowhere.keepup")).toContain("There is no file")
  })

  it("/resume of a session that is none says so", async () => {
    expect(await run("/resume nowhere")).toContain(`There is no session "nowhere".`)
  })

  it("what changes the session waits for the agent", async () => {
    chat.controller.send("make b.txt")
    chat.controller.send("/rewind 1")
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(chat.shown()).toContain("warning: Cannot do this while a task is running: /rewind.")
  })
})

describe("completion", () => {
  const values = async (text: string) =>
    (await chat.controller.complete(text, text.length)).options.map(({ value }) => value)

  it("knows the commands and what they take", async () => {
    await chat.say("make a.txt")
    expect(await values("/re")).toEqual(["/rewind ", "/restore ", "/resume ", "/rename"])
    expect(await values("/rewind ")).toContain("1")
    expect(await values("/export ")).toEqual(["md", "json"])
    expect(await values("/resume ")).toEqual([chat.state().status.sessionShortId])
    expect(await values("/config check")).toContain("checkpoint.retention")
    expect(await values("hello")).toEqual([])
  })

  it("finds files after an @, also in the middle of a text", async () => {
    machine.write("src/parser.ts", "")
    machine.write("node_modules/x/parser.ts", "")
    expect(await values("look at @pars")).toEqual(["@src/parser.ts"])
    const found = await chat.controller.complete("see @src/ please", 9)
    expect(found).toMatchObject({ from: 4, to: 9, options: [{ value: "@src/parser.ts" }] })
    expect(await values("me@example")).toEqual([])
  })
})
