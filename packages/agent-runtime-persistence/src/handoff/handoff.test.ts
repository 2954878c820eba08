import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Checkpoint, CheckpointId, Session, SessionId } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore } from "../store/open-store.js"
import { expectCode } from "../testing/contract/samples.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { fillHandoffPath } from "./handoff-path.js"
import { beginMarker, endMarker, replaceSection } from "./handoff-section.js"
import { type Handoff, readHandoff, renderHandoff } from "./render-handoff.js"
import { writeHandoffSection } from "./write-handoff-section.js"

const session = {
  id: "01890000-0000-7000-8000-00001a2b3c4d" as SessionId,
  name: "Fix the parser",
  status: "paused",
  messageCount: 12,
  taskDescription: "Make it parse",
} as Session

function checkpoint(number: number, change: Partial<Checkpoint> = {}): Checkpoint {
  return {
    id: `01890000-0000-7000-8000-0000aaaa000${number}` as CheckpointId,
    number,
    name: null,
    trigger: "run.ended",
    createdAt: Date.UTC(2026, 0, 2, 3, number),
    git: { branch: "main", head: "1".repeat(40), uncommitted: 2, untracked: 1, operation: null },
    ...change,
  } as Checkpoint
}

const handoff: Handoff = { session, checkpoints: [checkpoint(2, { name: "before" }), checkpoint(1)] }

describe("a handoff", () => {
  it("says what the checkpoints are and how to return", () => {
    expect(renderHandoff(handoff)).toBe(`## keepup checkpoints

Session \`1a2b3c4d\` (Fix the parser) is paused, 12 messages. Task: Make it parse

| # | Name | Id | Time (UTC) | Branch | Return with |
|---|---|---|---|---|---|
| 2 | before | aaaa0002 | 2026-01-02 03:02 | main | \`keepup resume 1a2b3c4d --from '#2'\` |
| 1 | run.ended | aaaa0001 | 2026-01-02 03:01 | main | \`keepup resume 1a2b3c4d --from '#1'\` |

Go on from where it stands: \`keepup resume 1a2b3c4d\`.

Verify on resume: the branch is main and \`git status\` shows 2 changed and 1 untracked files, and the next step still makes sense.`)
  })

  it("shows five checkpoints at most, no secrets, no markers, and stays under 2 KB, whatever is in it", () => {
    const token = ["gh", "p_", "abcdefghijklmnopqrstuvwxyz0123456789"].join("")
    const text = renderHandoff({
      session: { ...session, name: token, taskDescription: `${endMarker}\n# x | y ${token}` } as Session,
      checkpoints: [9, 8, 7, 6, 5, 4].map((n) => checkpoint(n, { name: `${endMarker} ${"😀".repeat(100)}` })),
    })
    expect(text).not.toContain(token)
    expect(text).not.toContain("keepup checkpoints -->")
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048)
    const five = renderHandoff({ session, checkpoints: [9, 8, 7, 6, 5, 4].map((n) => checkpoint(n)) })
    expect(five.match(/--from/g)).toHaveLength(5)
    expect(five).not.toContain("1".repeat(40))
    expect(renderHandoff({ session, checkpoints: [] })).toContain("There is no checkpoint yet.")
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.string({ maxLength: 300 }), (name, branch) => {
        const git = { branch, head: null, uncommitted: 0, untracked: 0, operation: null }
        const one = renderHandoff({ session: { ...session, name }, checkpoints: [checkpoint(1, { name, git })] })
        expect(one.split("\n").filter((line) => line.startsWith("| 1 "))).toHaveLength(1)
        expect(one).not.toMatch(/<!--/)
        expect(Buffer.byteLength(one)).toBeLessThanOrEqual(2_048)
      }),
    )
  })

  it("is made of names of any length, in which half a secret is none", () => {
    const token = ["gh", "p_", "abcdefghijklmnopqrstuvwxyz0123456789"].join("")
    const megabytes = "name ".repeat(4_000_000)
    const long = {
      ...session,
      name: megabytes,
      taskDescription: `${" ".repeat(9_990)}${token} ${megabytes}`,
    } as Session
    const text = renderHandoff({ session: long, checkpoints: [checkpoint(1, { name: "n".repeat(20_000_000) })] })
    expect(text).toContain("(name name name")
    expect(text).not.toContain(token.slice(0, 8))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_048)
  })

  it("is read from a store", async () => {
    const store = await openStore("memory:")
    const made = await store.sessions.create({ workspacePath: "/w", name: "s" })
    for (let n = 0; n < 7; n++) await store.checkpoints.create({ sessionId: made.id, trigger: "manual" })
    expect((await readHandoff(store, made.id)).checkpoints.map(({ number }) => number)).toEqual([7, 6, 5, 4, 3])
    await store.close()
  })
})

/** Bytes of any kind, without NUL, markers or a word that forbids. */
const surroundings = fc
  .oneof(
    fc.uint8Array({ min: 1, maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc
      .array(fc.constantFrom("# T", "\n", "\r\n", "text", "é", "\r", "\uFEFF", "- [ ] a"))
      .map((parts) => Buffer.from(parts.join(""))),
  )
  .filter((bytes) => !/READ[- ]ONLY|<!--/.test(bytes.toString("latin1")))

describe("the section in a file", () => {
  const content = (file: Buffer | undefined, section: string) => {
    const result = replaceSection(file, section, "F")
    if ("leaveAlone" in result) throw new Error(result.leaveAlone)
    return result.content
  }

  it("is appended once, replaced after, and never changes a byte around it", () => {
    fc.assert(
      fc.property(
        surroundings,
        fc.constantFrom("a\n\nb", "| é |"),
        fc.constantFrom("c", "d\ne"),
        (file, first, second) => {
          const once = content(file, first)
          expect(once.subarray(0, file.length).equals(file)).toBe(true)
          expect(content(once, first).equals(once)).toBe(true)
          const twice = content(once, second)
          expect(twice.subarray(0, file.length).equals(file)).toBe(true)
          expect(content(twice, first).equals(once)).toBe(true)
        },
      ),
    )
  })

  it("keeps what is before and behind, byte for byte, with the line ends it has", () => {
    fc.assert(
      fc.property(
        surroundings,
        surroundings,
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("", "  "),
        (a, b, eol, space) => {
          const old = Buffer.from(`${space}${beginMarker}${eol}old${eol}${endMarker}`)
          const [before, behind] = [Buffer.concat([a, Buffer.from("\n")]), Buffer.concat([Buffer.from(eol), b])]
          const file = Buffer.concat([before, old, behind])
          const next = content(file, "new\nlines")
          expect(next.subarray(0, before.length).equals(before)).toBe(true)
          expect(next.subarray(next.length - behind.length).equals(behind)).toBe(true)
          const inside = next.subarray(before.length, next.length - behind.length).toString("utf8")
          expect(inside).toBe(`${space}${[beginMarker, "", "new", "lines", "", endMarker].join(eol)}`)
        },
      ),
    )
  })

  it("takes the line ends of the file, and a byte order mark stays first", () => {
    const windows = content(Buffer.from("\uFEFFa\r\nb\r\n"), "x\ny").toString("utf8")
    expect(windows).toBe(`\uFEFFa\r\nb\r\n\r\n${beginMarker}\r\n\r\nx\r\ny\r\n\r\n${endMarker}\r\n`)
    expect(content(undefined, "x").toString()).toBe(`${beginMarker}\n\nx\n\n${endMarker}\n`)
    expect(content(Buffer.from("\uFEFF"), "x").toString()).toBe(`\uFEFF${beginMarker}\n\nx\n\n${endMarker}\n`)
    expect(content(Buffer.from("no end"), "x").toString()).toBe(`no end\n\n${beginMarker}\n\nx\n\n${endMarker}\n`)
  })

  it.each([
    ["only a begin", `${beginMarker}\n`],
    ["only an end", `${endMarker}\n`],
    ["the wrong order", `${endMarker}\n${beginMarker}\n`],
    ["two pairs", `${beginMarker}\n${endMarker}\n${beginMarker}\n${endMarker}\n`],
    ["a marker within a line", `see ${beginMarker}\n${endMarker}\n`],
    ["a broken marker", `${beginMarker}\n<!-- END: keepup checkpoints\n`],
    ["another spelling", `<!--begin: keepup checkpoints-->\n${endMarker}\n`],
  ])("is refused where the markers have %s", (_, text) => {
    expect(() => replaceSection(Buffer.from(text), "x", "F")).toThrow(expect.objectContaining({ code: "CONFLICT" }))
  })

  it("is left out of files that say so, that are no text, or that would grow too large", () => {
    const alone = (text: string | Buffer) => replaceSection(Buffer.from(text), "x", "F")
    expect(alone(`# H\n\n**NOTICE**: READ-ONLY since ADR-014\n`)).toEqual({
      leaveAlone: "F says that it is READ-ONLY.",
    })
    expect(alone(`${"\n".repeat(20)}READ-ONLY`)).toHaveProperty("content")
    expect(alone(`${"\n".repeat(19)}READ-ONLY`)).toHaveProperty("leaveAlone")
    expect(alone(`${beginMarker}\nREAD-ONLY\n${endMarker}\n`), "our own words do not lock us out").toHaveProperty(
      "content",
    )
    expect(alone("\ufeffa\n".repeat(6_000))).toEqual({ leaveAlone: "F would grow past 20 KB." })
    expect(alone("a".repeat(20 * 1024 - 30))).toHaveProperty("leaveAlone")
    expect(alone(Buffer.from("\ufeffabc", "utf16le"))).toEqual({ leaveAlone: "F is not a text in UTF-8." })
  })

  it.each([
    ...[
      "**Read-only**: do not edit",
      "read-only",
      "READ_ONLY",
      "READONLY",
      "Readonly.",
      "_Read-only file_",
      "read only!",
    ],
    ...["\ufeffRead-only", "# Read only", "# Handoff (read-only)", "## Handoff – Read-only", "> Read-Only: ask first"],
    ...["<!-- read-only -->", "<!-- This is read-only, a tool makes it -->", "// read-only", "[read-only]"],
    ...[
      "readonly: true",
      '"read-only": true',
      "Read-only, made by a tool",
      "Read-only — ask first",
      "⚠️ Read-only since May",
    ],
    ...[
      "This file is read-only.",
      "Notice: read-only",
      "> [!WARNING] Read-only",
      "Please note: this is **read-only**.",
      "It is _READ-ONLY_",
    ],
    ...[
      "This HANDOFF.md is read-only",
      "this `docs/handoff.md` is now **read-only**, ask first",
      "Please treat this file as read-only.",
      "Treat it as read only, please.",
      "File is read-only",
      "The file is read-only.",
      "HANDOFF.md is read-only.",
      "This is read-only.",
      "This is a read-only file made by a tool.",
      "This document must stay read-only",
    ],
    ...[
      "Do not edit. Read only.",
      "Do not modify: read-only",
      "Please don\u2019t touch this file \u2014 read-only!",
      "> **DO NOT EDIT** (read-only)",
      "Never change the file; it is read-only",
    ],
    ...["Set READ_ONLY before", "The parser is READONLY now"],
  ])("is left out of a file that is marked as read-only: %s", (line) => {
    for (const file of [line, `# Title\n\n${line}\nmore\n`, `---\r\n${line}\r\n`])
      expect(replaceSection(Buffer.from(file), "x", "F"), file).toEqual({ leaveAlone: "F says that it is READ-ONLY." })
  })

  it.each([
    ...[
      "the database is read-only",
      "The database is read-only.",
      "We fixed the read-only mode.",
      "The file system: read-only",
    ],
    ...[
      "Read-only mode works again",
      "Read only the first part of it",
      "# Fix the read-only bug",
      "## Read-only databases",
    ],
    ...[
      "- read-only files are skipped",
      "* Read-only: the disk of the server",
      "| read-only | yes |",
      "read-only: false",
    ],
    ...[
      "I spread only butter",
      "<!-- made by hand --> the disk is read-only",
      "`read-only` is a flag",
      "**a read-only disk**",
      "This disk is read-only.",
      "The file is read-only when it is mounted",
      "Do not edit the read-only disk",
      "Do not change what is read-only",
      "- Do not modify: read-only",
      "Open this file as a read-only stream",
      "They treat errors as read-only events",
      "server.ts is read-only",
      "PG_READ_ONLY_MODE=1",
    ],
  ])("is written to a file that only speaks of something read-only: %s", (line) => {
    for (const file of [line, `# Title\n\n${line}\nmore\n`])
      expect(replaceSection(Buffer.from(file), "x", "F"), file).toHaveProperty("content")
  })

  it("is not held up by lines of megabytes that look like a mark again and again", () => {
    const begun = performance.now()
    for (const part of ["<!-- ", "# (", "**", "> note: ", " ", "this a.md", "this ", "do not edit ", "treat it as "])
      replaceSection(Buffer.from(part.repeat(1_000_000)), "x", "F")
    expect(performance.now() - begun).toBeLessThan(2_000)
  })
})

describe("the path of a handoff", () => {
  const fill = (template: string, more = {}) =>
    fillHandoffPath({ template, workspacePath: "/w", session, branch: "feature/42-parse it", ...more })

  it("fills in branch, session and issue as plain names", () => {
    expect(fill(".agents/HANDOFF.md")).toBe("/w/.agents/HANDOFF.md")
    expect(fill(".agents/handoffs/{branch}/{session}.md")).toBe("/w/.agents/handoffs/feature-42-parse-it/1a2b3c4d.md")
    expect(fill("h/{issue}.md")).toBe("/w/h/42.md")
    expect(fill("h/{issue}.md", { issue: "7" })).toBe("/w/h/7.md")
    expect(fill("{branch}", { branch: "../../etc/passwd" })).toBe("/w/etc-passwd")
  })

  it.each(["../a.md", "/elsewhere/a.md", "", ".", "a/../..", "{unknown}.md", "a\0b", ".git/config", "a/.GIT/hooks/x"])(
    "refuses %j",
    (template) => {
      expect(() => fill(template)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }))
    },
  )

  it("refuses what it can't fill in", () => {
    expect(() => fill("{branch}.md", { branch: null })).toThrow(/needs \{branch\}/)
    expect(() => fill("{issue}.md", { branch: "main" })).toThrow(/needs \{issue\}/)
  })
})

describe("writing a handoff", () => {
  let folder: TemporaryFolder
  beforeEach(() => {
    folder = createTemporaryFolder()
  })
  afterEach(() => folder.remove())
  const write = (path = "HANDOFF.md", what = handoff) =>
    writeHandoffSection({ path, workspacePath: folder.path, handoff: what })
  const read = () => readFileSync(folder.file("HANDOFF.md"), "utf8")

  it("makes the file, changes nothing when nothing changed, and keeps mode and neighbours", async () => {
    expect(await write("a/b/HANDOFF.md")).toMatchObject({ status: "written", path: folder.file("a/b/HANDOFF.md") })
    writeFileSync(folder.file("HANDOFF.md"), "# Mine\n", { mode: 0o640 })
    expect((await write()).status).toBe("written")
    const first = statSync(folder.file("HANDOFF.md"))
    expect([first.mode & 0o777, read().startsWith("# Mine\n\n<!-- BEGIN")]).toEqual([0o640, true])
    expect((await write()).status).toBe("unchanged")
    expect(statSync(folder.file("HANDOFF.md")).ino).toBe(first.ino)
    expect(readdirSync(folder.path).sort()).toEqual(["HANDOFF.md", "a"])
  })

  it("leaves files alone that do not want it, and says why", async () => {
    writeFileSync(folder.file("HANDOFF.md"), "READ-ONLY\n")
    expect(await write()).toMatchObject({ status: "left-alone", warning: expect.stringContaining("READ-ONLY") })
    expect(read()).toBe("READ-ONLY\n")
    chmodSync(folder.file("HANDOFF.md"), 0o444)
    expect(await write()).toMatchObject({
      status: "left-alone",
      warning: expect.stringContaining("may not be written"),
    })
    mkdirSync(folder.file("folder"))
    expect((await write("folder")).status).toBe("left-alone")
    symlinkSync("/etc/hostname", folder.file("out"))
    expect((await write("out")).warning).toContain("leads out of the workspace")
    symlinkSync("nowhere", folder.file("broken"))
    expect((await write("broken")).warning).toContain("link to nothing")
  })

  it("does not follow a folder that is a link out of the workspace, or into git", async () => {
    const outside = createTemporaryFolder()
    writeFileSync(outside.file("HANDOFF.md"), "not yours\n")
    symlinkSync(outside.path, folder.file("out"))
    mkdirSync(folder.file(".git"))
    symlinkSync(".git", folder.file("in"))
    for (const path of ["out/HANDOFF.md", "out/new.md", "out/deep/er/new.md", "in/HANDOFF.md", "in/a/b.md"]) {
      const result = await write(path)
      expect(result, path).toMatchObject({ status: "left-alone", warning: expect.stringMatching(/leads out of the/) })
    }
    expect(readdirSync(outside.path)).toEqual(["HANDOFF.md"])
    expect(readFileSync(outside.file("HANDOFF.md"), "utf8")).toBe("not yours\n")
    expect(readdirSync(folder.file(".git"))).toEqual([])
    outside.remove()
  })

  it("writes through a link within the workspace", async () => {
    writeFileSync(folder.file("real.md"), "mine\n")
    symlinkSync("real.md", folder.file("HANDOFF.md"))
    expect((await write()).status).toBe("written")
    expect(readFileSync(folder.file("real.md"), "utf8")).toContain("mine\n\n<!-- BEGIN")
    expect(readdirSync(folder.path).sort()).toEqual(["HANDOFF.md", "real.md"])
  })

  it("refuses a file with broken markers and does not touch it", async () => {
    writeFileSync(folder.file("HANDOFF.md"), `${beginMarker}\n`)
    await expectCode(write(), "CONFLICT", /one pair/)
    expect(read()).toBe(`${beginMarker}\n`)
  })

  it("loses no edit that someone makes at the same time", async () => {
    writeFileSync(folder.file("HANDOFF.md"), "start\n")
    const writers = Array.from({ length: 10 }, (_, n) =>
      write("HANDOFF.md", { session, checkpoints: [checkpoint((n % 9) + 1)] }),
    )
    writeFileSync(folder.file("HANDOFF.md"), "edited\n")
    await Promise.allSettled(writers)
    expect(read().startsWith("edited\n\n<!-- BEGIN")).toBe(true)
    expect(read().match(/BEGIN/g)).toHaveLength(1)
    expect(readdirSync(folder.path)).toEqual(["HANDOFF.md"])
  })

  it("commits nothing and stages nothing", async () => {
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", folder.path, "-c", "user.name=T", "-c", "user.email=t@example.com", ...args], {
        encoding: "utf8",
      })
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    const before = readFileSync(join(folder.path, ".git/HEAD"), "utf8") + git("rev-parse", "HEAD")
    await write()
    expect(readFileSync(join(folder.path, ".git/HEAD"), "utf8") + git("rev-parse", "HEAD")).toBe(before)
    expect(git("status", "--porcelain").trim()).toBe("?? HANDOFF.md")
  })
})
