/** Random trees and random edits, and the law they are held against. */
import { execFileSync } from "node:child_process"
import { chmodSync, lstatSync, renameSync } from "node:fs"
import fc from "fast-check"
import { expect } from "vitest"
import { fsck, makeWorkspace, takePicture, type WorkspaceFixture } from "./workspace-fixture.js"

const names = ["a", "b", "c.txt", "d e", "new\nline", "\xff\xfe", "\xc3\xa9", "Z", ":x", "a.b"]
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"))
const content = fc.oneof(
  fc.string({ maxLength: 40 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(Buffer.alloc(0), Buffer.from("same\r\n"), Buffer.alloc(70_000, 3)),
)
const edit = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("write" as const), path, content }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("folder" as const), path }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("link" as const),
      path,
      target: fc.constantFrom("a", "../home", "../no-such-place", "\xff"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("mode" as const),
      path,
      mode: fc.constantFrom(0o755, 0o644, 0o600, 0o700),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("move" as const), path, to: path }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("repository" as const),
      path: fc.constantFrom("repo", "in/repo"),
      name: fc.constantFrom(...names),
      content,
    }),
  },
)
const lax = { throwIfNoEntry: false } as const
const place = (work: WorkspaceFixture, path: string) => Buffer.from(`${work.root}/${path}`, "latin1")

export const edits = fc.array(edit, { minLength: 1, maxLength: 12 })
export type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never

/**
 * Does what can be done; an edit that does not fit (a folder where a file is) first makes room. Nothing is ever done
 * through a link: what lies behind it is not ours.
 */
export function apply(work: WorkspaceFixture, one: Edit): void {
  const target = place(work, one.path)
  try {
    if (one.kind === "remove" || one.kind === "mode" || one.kind === "move") {
      if (goesThroughLink(work, one.path) || (one.kind === "move" && goesThroughLink(work, one.to))) return
      if (one.kind === "mode" && lstatSync(target, lax)?.isSymbolicLink() !== false) return
    }
    if (one.kind === "write") {
      makeRoom(work, one.path)
      work.write(one.path, one.content)
    } else if (one.kind === "remove") work.remove(one.path)
    else if (one.kind === "folder") {
      makeRoom(work, `${one.path}/x`)
      work.folderAt(one.path)
    } else if (one.kind === "link") {
      makeRoom(work, one.path)
      work.link(one.path, one.target)
    } else if (one.kind === "mode") chmodSync(target, one.mode)
    else if (one.kind === "move") renameSync(target, place(work, one.to))
    else {
      // Its own names, so that no other edit puts a file where a repository is: that one would rightly stay.
      makeRoom(work, `${one.path}/x`)
      work.folderAt(one.path)
      execFileSync("git", ["init", "-q"], {
        cwd: target.toString("latin1"),
        env: { PATH: process.env.PATH },
        stdio: "ignore",
      })
      work.write(`${one.path}/${one.name}`, one.content)
    }
  } catch {
    // A move of nothing, a mode of nothing: random edits need not fit.
  }
}

function goesThroughLink(work: WorkspaceFixture, path: string): boolean {
  const parts = path.split("/")
  return parts.slice(1).some((_, i) => lstatSync(place(work, parts.slice(0, i + 1).join("/")), lax)?.isSymbolicLink())
}

/** Links and files above a path go, so that nothing is ever written outside. */
function makeRoom(work: WorkspaceFixture, path: string): void {
  const parts = path.split("/")
  for (let i = 1; i < parts.length; i++) {
    const above = parts.slice(0, i).join("/")
    const kind = work.picture().get(above)
    if (kind !== undefined && kind !== "folder") work.remove(above)
  }
  const kind = work.picture().get(path)
  if (kind !== undefined && kind !== "folder") work.remove(path)
}

/** Folders count when they are empty or hold something; ones with nothing but a .git in them are nobody's content. */
function comparable(work: WorkspaceFixture): Map<string, string> {
  const picture = work.picture()
  const all = work.picture({ git: true })
  for (const [name, kind] of picture) {
    if (kind !== "folder") continue
    const holdsFile = [...picture].some(([inner, k]) => inner.startsWith(`${name}/`) && k !== "folder")
    const holdsGit = [...all.keys()].some((inner) => inner.startsWith(`${name}/`) && inner.includes("/.git"))
    if (!holdsFile && holdsGit) picture.delete(name)
  }
  return picture
}

/** A file that is there already stays as private or open as it is; one that is made anew is as it was captured. */
function withKeptPermissions(picture: Map<string, string>, before: Map<string, string>): Map<string, string> {
  const kept = new Map(picture)
  for (const [name, then] of picture) {
    const now = before.get(name)
    if (!then.startsWith("file ") || !now?.startsWith("file ")) continue
    kept.set(name, then.replace(/^file (.)p? /, `file $1${/^file .p /.test(now) ? "p" : ""} `))
  }
  return kept
}

const filesOf = (picture: Map<string, string>) => new Map([...picture].filter(([, kind]) => kind.startsWith("file ")))

const userGit = (work: WorkspaceFixture) =>
  new Map([...work.picture({ git: true })].filter(([name]) => name === ".git" || name.startsWith(".git/")))

/** Whatever happened, a restore gives everything back and touches nothing else, the user's .git least of all. */
export async function expectExactRestores(kind: { git: boolean; watch: boolean }, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(edits, edits, edits, async (first, second, third) => {
      const work = makeWorkspace({ git: kind.git })
      try {
        for (const one of first) apply(work, one)
        if (kind.git) commitAll(work)
        await roundTrip(work, [first, second, third], kind.watch)
      } finally {
        await work.close()
      }
    }),
    { numRuns, endOnFailure: true },
  )
}

export function commitAll(work: WorkspaceFixture): void {
  try {
    work.git("add", "-A", "--ignore-errors")
  } catch {
    // A nested repository without commits: the user's git adds the rest.
  }
  work.git("commit", "-qm", "x", "--allow-empty")
}

async function roundTrip(work: WorkspaceFixture, rounds: readonly (readonly Edit[])[], watch: boolean): Promise<void> {
  const store = await work.open()
  if (watch) expect(await store.watch()).toBe(true)
  const gitBefore = userGit(work)
  const taken: { commit: string; picture: Map<string, string> }[] = []
  for (const [i, edits] of rounds.entries()) {
    if (i > 0) for (const one of edits) apply(work, one)
    const { commit } = await store.capture({ message: `${i}`, checkpointId: `c${i}` })
    taken.push({ commit, picture: comparable(work) })
  }
  for (const { commit, picture } of [...taken, ...[...taken].reverse()]) {
    const before = work.picture()
    const outcome = await store.restore(commit, { exact: !watch })
    expect(outcome.failed).toEqual([])
    expect(comparable(work)).toEqual(withKeptPermissions(picture, before))
  }
  for (const [i, { commit, picture }] of taken.entries()) {
    const copy = `${work.folder}/copy-${i}`
    await store.writeAllTo(commit, copy)
    expect(filesOf(takePicture(copy, false))).toEqual(filesOf(picture))
  }
  await store.consolidate()
  expect(fsck(store.directory)).toBe("")
  expect(userGit(work)).toEqual(gitBefore)
  const again = await store.capture({ message: "again", exact: true })
  expect((await store.diff(taken[0]?.commit as string, again.commit)).length).toBe(0)
}
