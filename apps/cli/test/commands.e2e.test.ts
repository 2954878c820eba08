/** Every command, as a person or a program calls it: the real binary, exit codes and JSON shapes. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { commands } from "../src/commands.js"
import { buildOnce, openPlace, type Place } from "./real-keepup.js"

let place: Place
const called = new Set<string>()

beforeAll(async () => {
  await buildOnce()
  place = openPlace()
})
afterAll(() => place.remove())

const run = (...words: string[]) => {
  note(words)
  return place.run(...words)
}
const ask = (...words: string[]) => {
  note(words)
  return place.ask(...words)
}
function note(words: readonly string[]): void {
  const entry = commands.find(({ name }) => words.slice(0, name.split(" ").length).join(" ") === name)
  if (entry !== undefined) called.add(entry.name)
}

const sessionKeys = [
  ...["id", "name", "status", "agentType", "taskDescription", "workspacePath", "createdAt", "updatedAt"],
  ...["messageCount", "checkpointCount", "parentSessionId", "forkedFromCheckpointId", "metadata"],
]
const checkpointKeys = [
  ...["id", "number", "name", "note", "trigger", "sessionId", "messageIndex", "createdAt", "pinned", "sizeBytes"],
  ...["snapshot", "git", "metadata"],
]

describe.sequential("a day with keepup", () => {
  it("prepares, is set up and explains itself", () => {
    expect(run("--version")).toEqual({ code: 0, out: "0.1.0\n", err: "" })
    expect(run("help", "checkpoint", "restore").out).toContain("Usage  keepup checkpoint restore REF [options]")
    expect(ask("init")).toMatchObject({ ok: true, workspacePath: place.workspace, storage: "user" })
    expect(ask("config", "set", "checkpoint.retention", "5")).toMatchObject({ key: "checkpoint.retention", value: 5 })
    expect(run("config", "get", "checkpoint.retention").out).toBe("5\n")
    expect(ask("config", "list").settings.map(({ key }: { key: string }) => key)).toContain("checkpoint.retention")
    expect(run("completion", "bash").out).toContain("complete -F _keepup keepup")
    expect(run("__complete", "--", "checkpoint", "un").out).toBe(
      "undo\ttake the last restore back: every file and the conversation\nunpin\tlet retention remove them again\n",
    )
  })

  it("keeps and shows", () => {
    place.write("a.txt", "one\n")
    const made = ask("checkpoint", "create", "--name", "first")
    expect(Object.keys(made)).toEqual(["ok", "checkpoint"])
    expect(Object.keys(made.checkpoint)).toEqual(checkpointKeys)
    expect(Object.keys(made.checkpoint.snapshot)).toEqual([
      "commit",
      "filesChanged",
      "insertions",
      "deletions",
      "skipped",
    ])
    place.write("a.txt", "two\n")
    ask("checkpoint", "create")
    const list = ask("checkpoint", "list")
    expect(Object.keys(list)).toEqual(["ok", "session", "checkpoints"])
    expect(Object.keys(list.session)).toEqual(sessionKeys)
    expect(list.checkpoints.map(({ number }: { number: number }) => number)).toEqual([1, 2])
    expect(Object.keys(ask("checkpoint", "show", "first"))).toEqual(["ok", "checkpoint"])
    expect(ask("checkpoint", "diff", "1")).toEqual({
      ok: true,
      files: [{ path: "a.txt", status: "modified", insertions: 1, deletions: 1, binary: false }],
    })
    expect(ask("checkpoint", "pin", "1").checkpoints[0].pinned).toBe(true)
    expect(ask("checkpoint", "unpin", "1").checkpoints[0].pinned).toBe(false)
  })

  it("goes back, forth and sideways", () => {
    expect(run("checkpoint", "restore", "1")).toMatchObject({ code: 2, err: expect.stringContaining("--yes") })
    expect(ask("checkpoint", "restore", "1", "--dry-run").applied).toBe(false)
    const restored = ask("checkpoint", "restore", "1", "--yes")
    expect(Object.keys(restored)).toEqual(["ok", "restore", "plan"])
    expect(Object.keys(restored.restore)).toEqual(["id", "checkpointId", "safetyCheckpointId", "sessionId", "mode"])
    expect(restored.plan).toEqual({ write: ["a.txt"], delete: [], untouched: 0, notCaptured: [] })
    expect(place.read("a.txt")).toBe("one\n")
    expect(Object.keys(ask("checkpoint", "undo"))).toEqual(["ok", "restore", "plan"])
    expect(place.read("a.txt")).toBe("two\n")
    expect(run("rewind", "1", "--yes").out).toMatch(/^Rewound to checkpoint #1\. Original session preserved\.\n/)
    expect(run("checkpoint", "show", "99").code).toBe(3)
  })

  it("lets an agent work, resumes it, and goes through it again", () => {
    const script = place.script([
      { content: "writing", toolCalls: [{ name: "write_file", arguments: { path: "b.txt", content: "b\n" } }] },
      { content: "done" },
    ])
    const ran = run("run", "write b", "--script", script, "--approval", "auto", "--max-steps", "1")
    expect(ran).toMatchObject({ code: 0, out: "writing\n" })
    expect(run("pause")).toMatchObject({ code: 5 })
    expect(run("resume", "--approval", "auto")).toMatchObject({ code: 0, out: "done\n" })
    expect(run("checkpoint", "replay", "1").out).toContain("assistant done")
    expect(ask("checkpoint", "replay", "1", "--mode", "verify").verified).toBe(true)
    expect(run("handoff").out).toContain("write b")
  })

  it("keeps sessions in order", () => {
    expect(ask("session", "new", "Extra").session.name).toBe("Extra")
    expect(ask("session", "rename", "Extra", "More").session.name).toBe("More")
    expect(Object.keys(ask("session", "show", "More"))).toEqual(["ok", "session", "checkpoints", "logs"])
    expect(ask("session", "logs", "More").logs).toEqual([])
    expect(ask("session", "list").sessions.map(({ name }: { name: string }) => name)).toEqual([
      "More",
      "write b",
      "workspace (rewind from #1)",
      "workspace",
    ])
    expect(run("session", "list", "--tree").out).toMatch(/\n`-- from #1 {2}[0-9a-f]{8} {2}workspace \(rewind from #1\)/)
    expect(ask("session", "export", "write b", "../b.keepup").sizeBytes).toBeGreaterThan(100)
    expect(ask("session", "import", "../b.keepup").session).toMatchObject({ name: "write b", status: "completed" })
    expect(ask("session", "delete", "More", "--yes").session.name).toBe("More")
    expect(ask("session", "cleanup")).toMatchObject({ interrupted: [], removed: [], left: [] })
  })

  it("opens no chat without a terminal, and no server on a port that is none", () => {
    expect(run("chat")).toMatchObject({ code: 2, err: expect.stringContaining("needs a terminal") })
    expect(run("serve", "--port", "none")).toMatchObject({ code: 2, out: "" })
  })

  it("keeps house", () => {
    expect(ask("checkpoint", "prune", "--yes", "-S", "workspace").removed).toEqual([])
    expect(ask("checkpoint", "delete", "2", "--yes", "-S", "workspace").checkpoints).toHaveLength(1)
    expect(ask("gc").workspaces).toEqual([place.workspace])
    expect(ask("doctor")).toMatchObject({ healthy: true, findings: [] })
  })

  it("has called every command but the demo, which has a test of its own", () => {
    const names = commands.map(({ name }) => name).filter((name) => name !== "demo")
    expect(names.filter((name) => !called.has(name))).toEqual([])
  })
})
