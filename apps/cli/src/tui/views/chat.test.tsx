import { EventEmitter } from "node:events"
import { render } from "ink-testing-library"
import { afterEach, describe, expect, it, vi } from "vitest"
import { createStyles } from "../../output/text.js"
import type { ChatController } from "../chat-controller.js"
import type { ChatItem, ItemDraft } from "../state/chat-item.js"
import { type ChatState, startState } from "../state/chat-state.js"
import type { Overlay, TimelineRow } from "../state/overlay.js"
import { openKeySource } from "./key-source.js"
import { SizedChat } from "./open-screen.js"

const now = 1_000_000_000
const patch = "diff --git a/a.ts b/a.ts\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-old\n+new"
const opened: { unmount(): void }[] = []

afterEach(() => {
  for (const screen of opened.splice(0)) screen.unmount()
})

function item(draft: ItemDraft, id = 1): ChatItem {
  return { ...draft, id } as ChatItem
}

/** React draws in a task of its own, after those that are there. */
async function drawn(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A chat on a screen of this size, without colours; what it asked for is in `calls`. */
function open(change: Partial<ChatState>, columns = 80, rows = 24) {
  let state: ChatState = { ...startState({ workspacePath: "/w", model: "script" }), phase: "idle", ...change }
  const listeners = new Set<() => void>()
  const calls: string[] = []
  const facts: Partial<ChatController> = {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    complete: async (text, cursor) => ({
      from: 0,
      to: cursor,
      options: text.startsWith("/r")
        ? ["/rewind", "/restore"].map((value) => ({ value, label: value, detail: "go back" }))
        : [],
    }),
    listInputHistory: () => ["newest", "oldest"],
    keepDraft: () => {},
    resize: () => {},
  }
  const controller = new Proxy(facts, {
    get: (target, name: keyof ChatController) =>
      target[name] ?? ((...args: unknown[]) => void calls.push([name, ...args].join(" "))),
  }) as ChatController
  const stdin = new EventEmitter()
  const stdout = Object.assign(new EventEmitter(), { columns, rows }) as unknown as NodeJS.WriteStream
  const keys = openKeySource(stdin)
  const screen = render(
    <SizedChat controller={controller} keys={keys} stdout={stdout} styles={createStyles(false)} now={() => now} />,
  )
  opened.push(screen)
  return {
    calls,
    frame: () =>
      (screen.lastFrame() ?? "")
        .replaceAll("\u001b[7m \u001b[27m", "█")
        .replaceAll("\u001b[7m", "")
        .replaceAll("\u001b[27m", "")
        .split("\n"),
    frames: screen.frames,
    async press(text: string) {
      stdin.emit("data", text)
      await drawn()
    },
    async change(next: Partial<ChatState>) {
      state = { ...state, ...next }
      for (const listener of listeners) listener()
      await drawn()
    },
    async resize(to: { columns: number; rows: number }) {
      Object.assign(stdout, to)
      stdout.emit("resize")
      await drawn()
    },
  }
}

const status = {
  ...startState({ workspacePath: "/w", model: "anthropic/claude" }).status,
  sessionName: "fix the parser",
  sessionShortId: "a1b2c3d4",
  checkpointCount: 3,
  changedFiles: 2,
  inputTokens: 12_000,
  outputTokens: 800,
  cost: 0.042,
}

const running: Partial<ChatState> = {
  phase: "running",
  activity: "Running run_command",
  activitySince: now - 3_000,
  status,
  todo: [
    { title: "Read the parser", status: "done" },
    { title: "Fix it", status: "doing" },
    { title: "Add a test", status: "open" },
  ],
  queued: ["and then commit"],
  live: [
    item({
      kind: "tool",
      callId: "1",
      name: "run_command",
      target: "npm test",
      status: "running",
      result: "12 of 40",
      output: "",
      hasResult: false,
      durationMs: undefined,
    }),
  ],
}

describe("the chat's screen", () => {
  it("is a prompt and a status line before anything was said", () => {
    expect(open({ status }).frame()).toEqual([
      "",
      "─".repeat(79),
      "> █Ask something, / for commands, @ for files",
      "  fix the parser · claude · 3 chkp. · 2 files · 12.8k tok. · $0.042 · a1b2c3d4",
    ])
  })

  it("shows what goes on, what is to be done and what waits", () => {
    expect(open(running).frame()).toEqual([
      "· run_command npm test  12 of 40",
      "",
      "⠋ Running run_command 3 s  Ctrl-C stops",
      "  [x] Read the parser",
      "  [>] Fix it",
      "  [ ] Add a test",
      "  next: and then commit",
      "─".repeat(79),
      "> █Ask something, / for commands, @ for files",
      "  fix the parser · claude · 3 chkp. · 2 files · 12.8k tok. · $0.042 · a1b2c3d4",
    ])
  })

  it("fits into 40 columns", async () => {
    const { frame } = open(running, 40)
    expect(frame().slice(-3)).toEqual([
      "─".repeat(39),
      "> █Ask something, / for commands, @ for…".replace("for…", "fo…"),
      "  fix the parser · claude · 3 chkp.",
    ])
    for (const line of frame()) expect(line.length).toBeLessThanOrEqual(40)
  })

  it("prints what is settled once, and says what is no longer there to print", async () => {
    const user = item({ kind: "user", text: "hello", isSending: false })
    const { change, frames } = open({ settled: [user], settledCount: 1 })
    const tool = running.live?.[0] as ChatItem
    await change({
      settled: [user, { ...tool, id: 2, status: "error", result: "1 failed" } as ChatItem],
      settledCount: 2,
    })
    await change({
      settledCount: 5,
      settled: [item({ kind: "notice", level: "warning", text: "late", hint: "do this" })],
    })
    const all = frames.join("\n")
    expect(all.split("> hello").length).toBe(2)
    expect(all).toContain("✗ run_command npm test  failed: 1 failed\n")
    expect(all).toContain("  … 2 earlier ones are in the log\n\n\n! late\n  do this\n")
  })

  it("shows the end of an answer while it streams, and never more than the screen holds", async () => {
    const text = Array.from({ length: 100 }, (_, at) => `- line ${at}`).join("\n")
    const answer = (length: number) => [
      item({ kind: "assistant", text: text.slice(0, length), isStreaming: true, isCutOff: false, isContinued: false }),
    ]
    const { change, frame } = open({ phase: "running", live: answer(50) })
    for (let length = 50; length <= text.length; length += 7) {
      await change({ live: answer(length) })
      expect(frame().length).toBeLessThan(24)
    }
    await change({ live: answer(text.length) })
    expect(frame()[0]).toMatch(/^ {2}… \d+ lines above$/)
    expect(frame()).toContain("  • line 99")
  })

  it("goes on in a code block that a long answer was cut in", async () => {
    const part = (text: string, isContinued: boolean, isStreaming: boolean) =>
      item({ kind: "assistant", text, isStreaming, isCutOff: false, isContinued })
    const { frames } = open({
      settled: [part("```ts\na\n", false, false)],
      settledCount: 1,
      live: [part("# b\n", true, true)],
    })
    expect(frames.join("\n")).toContain("    # b")
  })

  it("asks in place, scrolls a long diff, and answers with a key or Escape", async () => {
    const question = {
      kind: "approval" as const,
      title: "Allow edit_file a.ts?",
      detail: patch,
      detailFormat: "patch" as const,
      choices: [
        { key: "y", label: "yes" },
        { key: "n", label: "no" },
        { key: "a", label: "always edit_file" },
      ],
      fallback: "n",
    }
    const { frame, press, calls } = open({ question, status })
    expect(frame()).toEqual([
      "",
      "┃ Allow edit_file a.ts?",
      ...patch.split("\n").map((line) => `┃ ${line}`),
      "┃",
      "┃ y yes   n no (Esc)   a always edit_file",
      "  fix the parser · claude · 3 chkp. · 2 files · 12.8k tok. · $0.042 · a1b2c3d4",
    ])
    await press("x")
    await press("A")
    await press("y")
    expect(calls).toEqual(["answer a", "answer y"])
    const small = open({ question: { ...question, detail: patch.repeat(20) } }, 40, 14)
    expect(small.frame().length).toBeLessThan(14)
    const first = small.frame()
    await small.press("\u001b[6~")
    expect(small.frame()).not.toEqual(first)
  })
})

describe("keys of the chat", () => {
  it("sends text and Enter that came in one chunk", async () => {
    const { press, calls, frame } = open({})
    await press("hey")
    expect(frame()).toContain("> hey█")
    await press(" you\r")
    expect(calls).toEqual(["send hey you"])
  })

  it("offers commands, and takes the chosen one", async () => {
    const { press, frame } = open({ status })
    await press("/r")
    await vi.waitFor(() => expect(frame()).toContain("> /rewind   go back"), { timeout: 20_000 })
    expect(frame()).toContain("  /restore  go back")
    await press("\u001b[B\t")
    expect(frame()).toContain("> /restore█")
  })

  it("stops with Ctrl-C, empties a prompt first, and leaves with Ctrl-D", async () => {
    const { press, calls, frame, change } = open({})
    await press("draft")
    await press("\u0003")
    expect(frame().join()).toContain("Ask something")
    expect(calls).toEqual([])
    await press("\u0003")
    await change({ isLeaveArmed: true })
    expect(frame()).toContain("  Press Ctrl-C again to leave.")
    await press("\u0004\u000f\u0014")
    expect(calls).toEqual(["interrupt", "leave", "openOutput", "openTimeline"])
  })

  it("takes Escape and a key right after it for two keys where Alt means nothing", async () => {
    const { press, calls, frame, change } = open({
      overlay: { kind: "text", title: "out", text: "x", format: "plain" },
    })
    await press("\u001b\u000f")
    expect(calls).toEqual(["closeOverlay", "openOutput"])
    await change({ overlay: undefined })
    await press("\u001b/diff")
    expect(frame()).toContain("> /diff█")
  })

  it("keeps what was written while something else has the keys", async () => {
    const { press, frame, change } = open({})
    await press("half a thought")
    await change({ overlay: { kind: "text", title: "out", text: "x", format: "plain" } })
    await press("zzz")
    await change({ overlay: undefined })
    expect(frame()).toContain("> half a thought█")
  })

  it("puts back what could not be sent before what is being written", async () => {
    const { press, frame, change } = open({})
    await press("new")
    await change({ handedBack: { serial: 1, text: "old" } })
    expect(frame().slice(-3, -1)).toEqual(["> old", "  new█"])
  })
})

function row(number: number, more: Partial<TimelineRow> = {}): TimelineRow {
  return {
    checkpointId: `c${number}` as TimelineRow["checkpointId"],
    sessionId: "s" as TimelineRow["sessionId"],
    sessionName: "fix the parser",
    number,
    messageIndex: number * 2,
    trigger: "turn.ended",
    name: null,
    isPinned: false,
    createdAt: now - 60_000 * (10 - number),
    files: "2 +10 -3",
    depth: 0,
    isOwn: true,
    isFirstOfSession: number === 1,
    ...more,
  }
}

const timeline: Overlay = {
  kind: "timeline",
  rows: [
    row(1, { trigger: "session.started", files: "same" }),
    row(2, { name: "before the change", isPinned: true }),
    row(1, { depth: 1, isOwn: false, sessionName: "fix the parser (rewind from #2)" }),
    row(3),
  ],
  selected: 1,
  preview: { status: "ready", stat: "M a.ts 2 +-\n1 file changed", patch },
}

describe("what lies over the chat", () => {
  it("is a timeline with its branches, and beside it what changed", () => {
    expect(
      open({ overlay: timeline })
        .frame()
        .map((line) => line.trimEnd()),
    ).toEqual([
      "",
      "Timeline",
      "",
      "fix the parser (this one)                │ M a.ts 2 +-",
      "  #1   session.started  9 min ago  same  │ 1 file changed",
      "> #2   * before the change  8 min ago    │",
      "  └ fix the parser (rewind from #2)      │ diff --git a/a.ts b/a.ts",
      "    #1 turn.ended  9 min ago  2 +10 -3   │ --- a/a.ts",
      "  #3   turn.ended  7 min ago  2 +10 -3   │ +++ b/a.ts",
      "                                         │ @@ -1 +1 @@",
      "                                         │ -old",
      "                                         │ +new",
      "",
      "up/down choose   Enter restore or rewind   u undo   Esc leave",
    ])
  })

  it("has what changed below where it is narrow", () => {
    expect(open({ overlay: timeline }, 40).frame().slice(8, 12)).toEqual(
      ["  #3   turn.ended  7 min ago  2 +10 -3", "", "─".repeat(24), "M a.ts 2 +-"]
        .filter((line) => line !== "")
        .concat(["1 file changed"]),
    )
  })

  it("moves with the arrows, and Enter asks whether to restore or to rewind", async () => {
    const { press, calls, frame } = open({ overlay: timeline })
    await press("\u001b[B")
    await press("u")
    await press("\r")
    expect(frame().at(-1)).toBe("Checkpoint #2:  r restore here   w rewind into a new session   Esc back")
    await press("w")
    await press("\r")
    await press("r")
    await press("q")
    expect(calls).toEqual(
      ["select 2", "undo ", "rewindSelected ", "restoreSelected ", "closeOverlay "].map((c) => c.trim()),
    )
  })

  it("shows the plan of a restore and takes yes or no", async () => {
    const overlay: Overlay = {
      kind: "confirm",
      question: "Restore #3?",
      plan: "Restore #3\n\n  1 file written\n    w a.ts",
    }
    const { press, calls, frame } = open({ overlay })
    expect(frame()).toEqual([
      "",
      "Restore #3",
      "",
      "  1 file written",
      "    w a.ts",
      "",
      "Restore #3?  y yes   n no (Esc)",
    ])
    await press("n")
    await press("y")
    expect(calls).toEqual(["confirm false", "confirm true"])
  })

  it("is never higher or wider than the screen, whatever the size", async () => {
    const text = Array.from({ length: 300 }, (_, at) => `line ${at} ${"漢字".repeat(40)}`).join("\n")
    const overlays: Overlay[] = [
      timeline,
      { kind: "text", title: "output", text, format: "plain" },
      { kind: "confirm", question: "Restore?", plan: text },
      { kind: "help", commands: Array(30).fill({ usage: "/rewind <#>", summary: "x".repeat(90) }), keys: [] },
      {
        kind: "sessions",
        selected: 20,
        rows: Array(40).fill({
          sessionId: "s",
          shortId: "a1b2c3d4",
          name: "a session with a long name",
          status: "paused",
          messageCount: 12,
          checkpointCount: 3,
          updatedAt: now - 90_000,
          depth: 1,
          fromCheckpoint: 2,
          isOwn: false,
        }),
      },
    ]
    for (const overlay of overlays) {
      const { frame, resize } = open({ overlay })
      for (const size of [
        { columns: 80, rows: 24 },
        { columns: 40, rows: 24 },
        { columns: 60, rows: 12 },
        { columns: 100, rows: 40 },
      ]) {
        await resize(size)
        expect(frame().length, `${overlay.kind} at ${size.columns}x${size.rows}`).toBeLessThan(size.rows)
        for (const line of frame()) expect(line.length).toBeLessThanOrEqual(size.columns)
      }
    }
  })
})
