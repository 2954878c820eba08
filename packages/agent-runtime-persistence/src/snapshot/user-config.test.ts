/** The user's settings are asked for once, and asked again as soon as they can be others. */
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { createGit, type Git } from "./git-process.js"
import { readUserConfig } from "./user-config.js"
import { findUserRepository } from "./user-repository.js"

let work: WorkspaceFixture
let asked: number
/** As if some seconds had passed since the files were written. */
let later: number
beforeEach(() => {
  work = makeWorkspace({ git: true })
  asked = 0
  later = 10_000
})
afterEach(() => work.close())

const environment = { PATH: process.env.PATH }
const cacheFile = () => join(work.state, "user-config.json")

function read(extra: Partial<Parameters<typeof readUserConfig>[0]> = {}) {
  const real = createGit({ environment, gitDirectory: join(work.root, ".git") })
  const git: Git = {
    ...real,
    run(...args) {
      asked++
      return real.run(...args)
    },
  }
  return readUserConfig({
    ...{ git, environment, homeDirectory: work.home, program: undefined, cacheFile: cacheFile() },
    repository: findUserRepository(work.root),
    now: () => Date.now() + later,
    ...extra,
  })
}

const global = (text: string) => writeFileSync(join(work.home, ".gitconfig"), text)

it("asks git once while no file changes", async () => {
  global("[core]\n\texcludesFile = ~/ignored\n\tautocrlf = input\n")
  const first = await read()
  expect(first.get("core.excludesfile")).toBe("~/ignored")
  expect([...(await read())]).toEqual([...first])
  expect(asked).toBe(1)
})

it("asks again when a file changed, came or went, wherever git reads it from", async () => {
  const excludes = async () => (await read()).get("core.excludesfile")
  expect(await excludes()).toBeUndefined()
  global("[core]\n\texcludesFile = ~/one\n")
  expect(await excludes()).toBe("~/one")
  work.git("config", "core.excludesFile", "~/two")
  expect(await excludes()).toBe("~/two")
  work.git("config", "--unset", "core.excludesFile")
  expect(await excludes()).toBe("~/one")
  global("[include]\n\tpath = more\n")
  expect(await excludes()).toBeUndefined()
  writeFileSync(join(work.home, "more"), "[core]\n\texcludesFile = ~/three\n")
  expect(await excludes()).toBe("~/three")
  mkdirSync(join(work.home, ".config/git"), { recursive: true })
  writeFileSync(join(work.home, ".config/git/config"), "[core]\n\tautocrlf = true\n")
  expect((await read()).get("core.autocrlf")).toBe("true")
  work.git("config", "extensions.worktreeConfig", "true")
  work.git("config", "--worktree", "core.excludesFile", "~/four")
  expect(await excludes()).toBe("~/four")
  const before = asked
  await read({ homeDirectory: work.folder })
  expect(asked).toBe(before + 1)
})

it("asks each time while a file is too young to be trusted, the branch decides, or git can't tell", async () => {
  later = 0
  global("[core]\n\tautocrlf = input\n")
  await read()
  expect(existsSync(cacheFile())).toBe(false)
  later = 10_000
  global('[includeIf "onbranch:side"]\n\tpath = more\n')
  await read()
  expect(existsSync(cacheFile())).toBe(false)
  global("[broken")
  expect((await read()).size).toBe(0)
  expect(existsSync(cacheFile())).toBe(false)
})

it("asks again after a day, when the clock was set back, and when what is kept can't be read", async () => {
  await read()
  later += 25 * 60 * 60_000
  await read()
  expect(asked).toBe(2)
  later = 5_000
  await read()
  expect(asked).toBe(3)
  writeFileSync(cacheFile(), "{")
  await read()
  expect(asked).toBe(4)
})

it("keeps only the settings it needs, so no secret of the user lies in the store", async () => {
  global("[http]\n\textraHeader = Authorization: secret\n[core]\n\tautocrlf = input\n")
  await read()
  const old = new Date(0)
  utimesSync(cacheFile(), old, old)
  expect(readFileSync(cacheFile(), "utf8")).not.toContain("secret")
  expect(readFileSync(cacheFile(), "utf8")).toContain("autocrlf")
})
