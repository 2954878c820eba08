import { describe, expect, it } from "vitest"
import { escapePath, toBytePath } from "./byte-path.js"
import { formatCommit, type ObjectType, objectId } from "./git-objects.js"
import { createObjectCheck } from "./transfer-objects.js"

const check = createObjectCheck()
const blob = add("blob", Buffer.from("content"))
const emptyTree = add("tree", Buffer.alloc(0))

function add(type: ObjectType, data: Buffer): string {
  const id = objectId(type, data)
  check.add({ id, type, data })
  return id
}

function tree(...entries: [mode: string, name: string, id: string][]): Buffer {
  return Buffer.concat(
    entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`, "utf8"), Buffer.from(id, "hex")]),
  )
}

const commit = (text: string, of = emptyTree) => formatCommit({ tree: of, time: 1, message: text })
const facts = (line: string) => `a message\n\nKeepup-Snapshot: 1\nKeepup-Created: 1\n${line}\n`

describe("an object on its way in", () => {
  it("is taken if it is a file, a link, a folder of such, or a snapshot of one", () => {
    add("tree", tree(["100644", "a", blob], ["120000", "b", blob], ["40000", "b.c", emptyTree], ["100755", "d", blob]))
    const id = add(
      "commit",
      commit(facts("Keepup-Empty: a/b%20c\nKeepup-Skipped: too-large x/..y\nKeepup-Skipped: time-budget .")),
    )
    expect(check.hasCommit(id)).toBe(true)
    expect(check.hasCommit(blob)).toBe(false)
  })

  it("is taken with the modes that old programs wrote into a repository", () => {
    add("tree", tree(["100664", "a", blob], ["040000", "b", emptyTree], ["100600", "c", blob]))
  })

  it.each<[string, ObjectType, Buffer]>([
    ["a name that leads up", "tree", tree(["100644", "..", blob])],
    ["a name that leads nowhere", "tree", tree(["100644", ".", blob])],
    ["no name", "tree", tree(["100644", "", blob])],
    ["a path for a name", "tree", tree(["100644", "a/b", blob])],
    ["a .git", "tree", tree(["40000", ".git", emptyTree])],
    ["a submodule", "tree", tree(["160000", "a", blob])],
    ["a mode of its own", "tree", tree(["104755", "a", blob])],
    ["a name twice", "tree", tree(["100644", "a", blob], ["100644", "a", blob])],
    [
      "a file and a folder of one name",
      "tree",
      tree(["100644", "a", blob], ["100644", "a.b", blob], ["40000", "a", emptyTree]),
    ],
    ["names in no order", "tree", tree(["100644", "b", blob], ["100644", "a", blob])],
    ["a file that is not there", "tree", tree(["100644", "a", "1".repeat(40)])],
    ["a file that is a folder", "tree", tree(["100644", "a", emptyTree])],
    ["the end missing", "tree", tree(["100644", "a", blob]).subarray(0, -1)],
    ["bytes that are no list", "tree", Buffer.from("x".repeat(50))],
    ["no end of a name", "tree", Buffer.from(`100644 ${"x".repeat(50)}`)],
    ["a commit of nothing", "commit", commit("a", "2".repeat(40))],
    [
      "a commit with a parent",
      "commit",
      Buffer.from(
        commit("a")
          .toString()
          .replace("\nauthor", `\nparent ${"1".repeat(40)}\nauthor`),
      ),
    ],
    ["an empty folder elsewhere", "commit", commit(facts("Keepup-Empty: ../../elsewhere"))],
    ["an absolute empty folder", "commit", commit(facts("Keepup-Empty: /etc/cron.d"))],
    ["an empty folder in .git", "commit", commit(facts("Keepup-Empty: .git/hooks"))],
    ["a hidden step up", "commit", commit(facts("Keepup-Skipped: too-large a/%2e%2e/%2e%2e/b"))],
  ])("is refused with %s", (_, type, data) => {
    expect(() => check.add({ id: objectId(type, data), type, data })).toThrow(
      expect.objectContaining({ code: "CORRUPT" }),
    )
  })

  it.each([
    ["a .GIT for disks that do not tell cases apart", ".GIT"],
    ["a .git with letters nobody sees", ".g\u200cit"],
  ])("is refused with %s on their systems, and taken where it is a name like any other", (_, name) => {
    const names = tree(["40000", name, emptyTree])
    const empty = commit(facts(`Keepup-Empty: ${escapePath(toBytePath(name))}/hooks`))
    for (const platform of ["darwin", "win32", "linux"] as const) {
      const there = createObjectCheck(platform)
      there.add({ id: emptyTree, type: "tree", data: Buffer.alloc(0) })
      for (const [type, data] of [["tree", names] as const, ["commit", empty] as const]) {
        const take = () => there.add({ id: objectId(type, data), type, data })
        if (platform === "linux") expect(take, `${type} on ${platform}`).not.toThrow()
        else expect(take, `${type} on ${platform}`).toThrow(expect.objectContaining({ code: "CORRUPT" }))
      }
    }
  })

  it("is refused under an id that is not its own", () => {
    const data = Buffer.from("other")
    expect(() => check.add({ id: blob, type: "blob", data })).toThrow(/other content/)
    expect(() => check.add({ id: blob, type: "tree" })).toThrow(/no content/)
  })
})
