import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { event, openRuntime } from "@ku0/agent-runtime"
import { DatabaseSync } from "@photostructure/sqlite"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openTestChat, type TestChat } from "../../testing/open-test-chat.js"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine
let chats: TestChat[]

beforeEach(() => {
  machine = createTestMachine()
  chats = []
})

afterEach(async () => {
  for (const chat of chats) await chat.leave()
  machine.remove()
})

async function open(answers: readonly unknown[], options: Parameters<typeof openTestChat>[1] = {}): Promise<TestChat> {
  const script = answers.length === 0 ? {} : { script: machine.script("answers.jsonl", answers) }
  const chat = await openTestChat(machine, { ...script, ...options })
  chats.push(chat)
  return chat
}

const write = (path: string, content: string) => ({ name: "write_file", arguments: { path, content } })

describe("a turn", () => {
  it("shows the message, the call, the answer and the checkpoints", async () => {
    const chat = await open([{ content: "I write.", toolCalls: [write("a.txt", "one\n")] }, { content: "Done." }])
    await chat.say("make a.txt")
    const lines = chat.shown().split("\n")
    expect(lines).toContain("user: make a.txt")
    expect(lines).toContain("assistant: I write.")
    expect(lines.find((line) => line.startsWith("ok write_file a.txt"))).toBeDefined()
    expect(lines).toContain("assistant: Done.")
    expect(lines.filter((line) => line.startsWith("checkpoint #")).length).toBeGreaterThan(1)
    expect(chat.state().live).toEqual([])
    expect(chat.state().status).toMatchObject({ sessionName: "make a.txt", changedFiles: 1 })
    expect(machine.read("a.txt")).toBe("one\n")
  })

  it("begins with a checkpoint of the files as they were before the agent", async () => {
    machine.write("a.txt", "mine\n")
    const chat = await open([{ content: "I write.", toolCalls: [write("b.txt", "one\n")] }, { content: "Done." }])
    await chat.say("go")
    await chat.say("/rewind 1")
    expect(chat.shown()).toContain("Rewound to checkpoint #1. Original session preserved.")
    expect(() => machine.read("b.txt")).toThrow()
    expect(machine.read("a.txt")).toBe("mine\n")
  })

  it("goes on in the script from message to message", async () => {
    const chat = await open([{ content: "First." }, { content: "Second." }])
    await chat.say("one")
    await chat.say("two")
    expect(chat.shown()).toContain("assistant: First.")
    expect(chat.shown()).toContain("assistant: Second.")
  })

  it("queues a message while the agent works and sends it after", async () => {
    const chat = await open([{ content: "First.", delayMs: 300 }, { content: "Second." }])
    chat.controller.send("one")
    chat.controller.send("two")
    expect(chat.state().queued).toEqual(["two"])
    await chat.until(({ phase, queued }) => phase === "idle" && queued.length === 0, "done")
    await chat.until(() => chat.shown().includes("assistant: Second."), "answered twice")
    expect(chat.shown().indexOf("user: two")).toBeGreaterThan(chat.shown().indexOf("assistant: First."))
  })

  it("counts tokens and cost", async () => {
    const chat = await open([{ content: "Hi.", usage: { inputTokens: 10, outputTokens: 3, cost: 0.5 } }])
    await chat.say("hello")
    expect(chat.state().status).toMatchObject({ inputTokens: 10, outputTokens: 3, cost: 0.5 })
  })

  it("hands the message back when there is no model", async () => {
    const chat = await open([])
    chat.controller.send("hello")
    await chat.until(({ handedBack }) => handedBack.text === "hello", "handed back")
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(chat.shown()).toContain("error: Which model?")
    expect(chat.shown()).not.toContain("user: hello")
  })

  it("says why a run failed, and the chat goes on", async () => {
    const chat = await open([{ content: "Better.", expectLast: "two" }])
    await chat.say("one")
    expect(chat.shown()).toMatch(/error: .*does not fit the newest message/)
    await chat.say("two")
    expect(chat.shown()).toContain("assistant: Better.")
  })

  it("says that a checkpoint lacks the files, and the chat goes on", async () => {
    const chat = await open([
      { content: "First." },
      { content: "I write.", toolCalls: [write("a.txt", "one\n")] },
      { content: "Done." },
    ])
    await chat.say("one")
    const [store = ""] = readdirSync(join(machine.state, "snapshots"))
    const objects = join(machine.state, "snapshots", store, "objects")
    rmSync(objects, { recursive: true })
    writeFileSync(objects, "not a folder\n")
    await chat.say("two")
    expect(chat.shown()).toMatch(/warning: Checkpoint #4 is not complete: .*\ncheckpoint #4 \(turn ended\)/)
    expect(chat.shown()).toContain("assistant: Done.")
    expect(machine.read("a.txt")).toBe("one\n")
  })

  it("says that a checkpoint failed, and the chat goes on", async () => {
    const chat = await open([{ content: "First." }, { content: "Second." }])
    await chat.say("one")
    const { checkpointCount } = chat.state().status
    const database = new DatabaseSync(join(machine.state, "keepup.db"))
    const refuse = "BEGIN SELECT RAISE(FAIL, 'no room'); END"
    database.exec(`CREATE TRIGGER no_more BEFORE INSERT ON session_checkpoints ${refuse}`)
    await chat.say("two")
    database.exec("DROP TRIGGER no_more")
    database.close()
    expect(chat.shown()).toMatch(/warning: Checkpoint \(turn\.ended\) failed: .*no room/)
    expect(chat.shown()).toContain("assistant: Second.")
    expect(chat.state().status.checkpointCount).toBe(checkpointCount)
  })

  it("shows the list of what is to be done", async () => {
    const items = [
      { title: "look", status: "done" },
      { title: "write", status: "doing" },
    ]
    const chat = await open([
      { content: "A plan.", toolCalls: [{ name: "todo_list", arguments: { items } }] },
      { content: "Done." },
    ])
    await chat.say("plan")
    expect(chat.state().todo).toEqual(items)
  })
})

describe("approvals", () => {
  const answers = [{ content: "I write.", toolCalls: [write("a.txt", "one\n")] }, { content: "As you say." }]

  it("ask in place and show what would be written", async () => {
    const chat = await open(answers, { approval: "ask" })
    chat.controller.send("go")
    await chat.until(({ question }) => question?.kind === "approval", "asked")
    expect(chat.state().question).toMatchObject({ title: "Allow write_file a.txt?", detail: "+one" })
    chat.controller.answer("x")
    expect(chat.state().question).toBeDefined()
    chat.controller.answer("y")
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(machine.read("a.txt")).toBe("one\n")
  })

  it("a no is told to the model and nothing is written", async () => {
    const chat = await open(answers, { approval: "ask" })
    chat.controller.send("go")
    await chat.until(({ question }) => question !== undefined, "asked")
    chat.controller.answer("n")
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(chat.shown()).toContain("skipped write_file")
    expect(() => machine.read("a.txt")).toThrow()
  })

  it("always means not again", async () => {
    const chat = await open(
      [{ toolCalls: [write("a.txt", "1")] }, { toolCalls: [write("b.txt", "2")] }, { content: "Done." }],
      { approval: "ask" },
    )
    chat.controller.send("go")
    await chat.until(({ question }) => question !== undefined, "asked")
    chat.controller.answer("a")
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(machine.read("b.txt")).toBe("2")
  })
})

describe("stopping and leaving", () => {
  const slow = [{ content: "Slow.", toolCalls: [{ name: "run_command", arguments: { command: "sleep 60" } }] }]

  it("Ctrl-C stops the turn and the chat stays", async () => {
    const chat = await open([...slow, { content: "Never." }])
    chat.controller.send("go")
    await chat.until(({ live }) => live.some((item) => item.kind === "tool"), "a tool runs")
    chat.controller.interrupt()
    expect(chat.state().phase).toBe("stopping")
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(chat.shown()).toContain("info: Stopped. Everything up to here is kept; send a message to go on.")
  })

  it("Ctrl-C twice leaves with a checkpoint and the command to resume", async () => {
    const chat = await open([{ content: "Hi." }])
    await chat.say("hello")
    chat.controller.interrupt()
    expect(chat.state().isLeaveArmed).toBe(true)
    chat.controller.interrupt()
    await chat.until(({ phase }) => phase === "left", "left")
    expect(chat.state().farewell).toMatch(
      /kept in checkpoint #\d+\.\nSession "hello"\. Go on with: keepup chat -S \w{8}/,
    )
    const { sessions } = await machine.ask("session list")
    expect(sessions[0].status).toBe("paused")
  })

  it("a chat in which nothing was said leaves nothing behind", async () => {
    const chat = await open([])
    expect(await chat.leave()).toBe("")
    expect((await machine.ask("session list")).sessions).toEqual([])
  })
})

describe("the next start", () => {
  it("goes on with the session it is told, and shows its end", async () => {
    const first = await open([{ content: "Hi." }, { content: "Again." }])
    await first.say("hello")
    await first.leave()
    const { sessions } = await machine.ask("session list")
    const second = await openTestChat(machine, { reference: sessions[0].id })
    chats = [second]
    expect(second.shown()).toContain("user: hello\nassistant: Hi.")
    await second.say("more")
    expect(second.shown()).toContain("assistant: Again.")
  })

  it("hands back a draft and what was queued", async () => {
    const first = await open([])
    first.controller.keepDraft("half a thought")
    await first.leave()
    const second = await openTestChat(machine)
    chats = [second]
    expect(second.state().handedBack.text).toBe("half a thought")
  })

  it("tells of the newest session", async () => {
    const first = await open([{ content: "Hi." }])
    await first.say("hello")
    await first.leave()
    const second = await openTestChat(machine)
    chats = [second]
    expect(second.shown()).toMatch(/Last session here: "hello", just now\.\n\/resume \w{8} goes on with it\./)
  })
})

describe("going on with a session", () => {
  it("tells a call nobody knows the end of from one that was left for later", async () => {
    const runtime = await openRuntime({
      stateDirectory: machine.state,
      workspacePath: machine.workspace,
      environment: {},
    })
    const { sessions, log } = runtime.store
    const { id } = await sessions.create({ workspacePath: machine.workspace, name: "two calls" })
    const call = (callId: string) => ({ id: callId, name: "run_command", arguments: { command: callId } })
    const started = (callId: string) => {
      const { name, arguments: args } = call(callId)
      return event("tool:started", { callId, name, arguments: args })
    }
    const message = { role: "assistant" as const, content: "Two.", toolCalls: [call("lost"), call("later")] }
    await log.append(id, [
      ...[event("message:added", { message }), started("lost"), started("later")],
      event("tool:in-doubt", { callId: "lost", name: "run_command" }),
      event("tool:ended", { callId: "later", name: "run_command", outcome: "paused" }),
    ])
    await runtime.close()
    const chat = await open([], { reference: id })
    expect(chat.shown()).toContain("in-doubt run_command lost")
    expect(chat.shown()).toContain("paused run_command later")
  })
})

describe("other processes", () => {
  it("a restore of the session is noticed and said", async () => {
    const chat = await open([{ content: "I write.", toolCalls: [write("a.txt", "one\n")] }, { content: "Done." }])
    await chat.say("go")
    expect((await machine.run("checkpoint restore 1 --yes")).code).toBe(0)
    await chat.until(() => chat.shown().includes("Another process restored checkpoint #1"), "noticed")
  })

  it("a run in the session is noticed and followed, and the chat goes on after it", async () => {
    const chat = await open([{ content: "Hi." }, { content: "Mine." }])
    await chat.say("hello")
    const script = machine.script("other.jsonl", [{ content: "From elsewhere." }])
    expect((await machine.run(["resume", "--prompt", "you", "--script", script])).code).toBe(0)
    await chat.until(() => chat.shown().includes("The other process has ended: completed."), "noticed")
    expect(chat.shown()).toContain("warning: Another process goes on with this session")
    expect(chat.shown()).toContain("assistant: From elsewhere.")
  })

  it("a pause from outside stops at the next safe point", async () => {
    const chat = await open([
      {
        content: "One.",
        toolCalls: [{ name: "run_command", arguments: { command: "while [ ! -e go ]; do sleep 0.05; done" } }],
      },
      { content: "Two." },
    ])
    chat.controller.send("go")
    await chat.until(({ live }) => live.some((item) => item.kind === "tool"), "a tool runs")
    expect((await machine.run("pause")).code).toBe(0)
    writeFileSync(join(machine.workspace, "go"), "")
    await chat.until(({ phase }) => phase === "idle", "idle")
    expect(chat.shown()).toContain("info: Paused, and kept in a checkpoint.")
    expect(chat.state().status.isPaused).toBe(true)
    await chat.say("on")
    expect(chat.shown()).toContain("assistant: Two.")
  })
})
