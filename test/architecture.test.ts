/** The import table, executed on the workspace as it is; and the proof that it would notice. */
import { describe, expect, it } from "vitest"
import { findViolations, type Member } from "./architecture/find-violations.js"
import { findRule, importTable } from "./architecture/import-table.js"
import { readMembers, readReferences, readSources } from "./architecture/read-workspace.js"

const members = readMembers()
const nameOf = (prefix: string) => members.find((member) => `${member.folder}/` === prefix)?.name

describe("the workspace", () => {
  it("has no import, use of the machine, barrel or cycle that the table forbids", () => {
    expect(findViolations(readSources(members), members).join("\n")).toBe("")
  })

  it("has a row of the table for every package and app", () => {
    expect(members.filter((member) => !findRule(`${member.folder}/src/index.ts`))).toEqual([])
  })

  it("declares only dependencies that the table allows", () => {
    const wrong = members.flatMap((member) => {
      const rows = importTable.filter((rule) => rule.files.some((prefix) => prefix.startsWith(`${member.folder}/`)))
      const allowed = new Set(rows.flatMap((rule) => rule.workspace))
      return member.needs.filter((name) => !allowed.has(name)).map((name) => `${member.name} must not need ${name}`)
    })
    expect(wrong).toEqual([])
  })

  it("type-checks every package, each against the packages it needs", () => {
    expect(readReferences(".")).toEqual(members.map((member) => member.folder).sort())
    for (const member of members) {
      const needed = members.filter((one) => member.needs.includes(one.name)).map((one) => one.folder)
      const others = member.references.filter((path) => !path.startsWith(`${member.folder}/`)) // a part of its own is its own affair
      expect(others, `references in ${member.folder}/tsconfig.json`).toEqual(needed.sort())
    }
  })

  it("has a table without a cycle", () => {
    const done = new Set<string>()
    for (let round = 0; round < importTable.length; round++) {
      for (const rule of importTable) {
        if (rule.workspace.every((name) => done.has(name) || !members.some((member) => member.name === name))) {
          for (const prefix of rule.files) done.add(nameOf(prefix) ?? prefix)
        }
      }
    }
    expect(members.map((member) => member.name).filter((name) => !done.has(name))).toEqual([])
  })
})

describe("the test itself", () => {
  const core: Member = {
    name: "@ku0/agent-runtime-core",
    folder: "packages/agent-runtime-core",
    dependencies: ["zod"],
    entries: ["packages/agent-runtime-core/src/index.ts"],
  }
  const persistence: Member = {
    name: "@ku0/agent-runtime-persistence",
    folder: "packages/agent-runtime-persistence",
    dependencies: ["@ku0/agent-runtime-core", "pg"],
    entries: ["packages/agent-runtime-persistence/src/index.ts"],
  }
  const cowork: Member = { name: "@ku0/cowork", folder: "apps/cowork", dependencies: ["react"], entries: [] }
  const made = [core, persistence, cowork]
  const check = (path: string, text: string) => findViolations([{ path, text }], made)
  const inCore = (text: string, file = "a.ts") => check(`${core.folder}/src/${file}`, text)
  const inPersistence = (text: string, file = "a.ts") => check(`${persistence.folder}/src/${file}`, text)

  it.each([
    ["a static import", `import { run } from "@ku0/agent-runtime-execution"`],
    ["a type", `import type { Run } from "@ku0/agent-runtime-execution"`],
    ["a type in place", `type Run = import("@ku0/agent-runtime-execution").Run`],
    ["a dynamic import", `const run = await import("@ku0/agent-runtime-execution")`],
    ["a re-export", `export * from "@ku0/agent-runtime-execution"\nexport const one = 1`],
    ["a require", `const run = require("@ku0/agent-runtime-execution")`],
  ])("refuses a forbidden package by %s and says why", (_, text) => {
    expect(inPersistence(text)).toEqual([expect.stringMatching(/a\.ts:1: imports .*execution": .*knows no agent loop/)])
    expect(inPersistence(text, "a.test.ts"), "in a test").toHaveLength(1)
  })

  it("knows Node's modules, also those of versions newer than this one", () => {
    expect(inPersistence(`import { DatabaseSync } from "node:sqlite"`)).toEqual([])
    expect(inPersistence(`import fs from "fs"`)).toEqual([expect.stringContaining('write "node:fs"')])
  })

  it("reads imports and not what looks like one", () => {
    expect(
      inPersistence(`// import "left-pad"\nconst text = 'import x from "left-pad"'\nexport const a = text`),
    ).toEqual([])
  })

  it("refuses an npm package that is not in the row, or not declared", () => {
    expect(inCore(`import pg from "pg"`)).toEqual([expect.stringContaining("may use zod; core is the words")])
    expect(inPersistence(`import x from "@photostructure/sqlite"`)).toEqual([
      expect.stringContaining("does not declare it"),
    ])
    expect(inPersistence(`import pg from "pg/lib/client.js"`)).toEqual([])
  })

  it("refuses a relative path out of the package and the inside of another", () => {
    expect(inPersistence(`import "../../agent-runtime-core/src/ids.js"`)).toEqual([
      expect.stringContaining("out of the package"),
    ])
    expect(inPersistence(`import "@ku0/agent-runtime-core/src/ids.js"`)).toEqual([
      expect.stringContaining("the inside of a package"),
    ])
    expect(inPersistence(`import "@ku0/agent-runtime-core/schemas"`)).toEqual([])
    expect(inPersistence(`import "@ku0/agent-runtime-core/testing"`)).toEqual([expect.stringContaining("is for tests")])
    expect(inPersistence(`import "@ku0/agent-runtime-core/testing"`, "a.test.ts")).toEqual([])
  })

  it.each([
    [`import { readFile } from "node:fs/promises"`, "no Node module here"],
    [`export const now = () => Date.now()`, "no clock and no chance"],
    [`export const today = new Date()`, "no clock and no chance"],
    [`export const dice = () => globalThis.Math.random()`, "no clock and no chance"],
    [`console.log("hello")`, "only apps"],
    [`export const size = (text: string) => Buffer.byteLength(text)`, "only Node has it"],
  ])("keeps core pure: %s", (text, reason) => {
    expect(inCore(text)).toEqual([expect.stringContaining(reason)])
  })

  it.each([
    "export const home = process.env.HOME",
    `export const home = process["env"].HOME`,
    "export const { env } = process",
    `import { env } from "node:process"\nexport const home = env.HOME`,
    `import os from "node:os"\nexport const home = () => os.homedir()`,
    `import { homedir as home } from "node:os"\nexport const where = home()`,
    "export const first = globalThis.process.argv[2]",
    `export const say = () => process.stdout.write("x")`,
    `export const say = () => console.log("x")`,
  ])("keeps packages off the machine: %s", (text) => {
    expect(inPersistence(text)).toEqual([expect.stringContaining("only apps read the environment")])
    expect(inPersistence(text, "testing/a.ts"), "in test code").toEqual([])
  })

  it("lets a date be made from a time that was handed in", () => {
    expect(inCore("export const show = (time: number) => new Date(time).toISOString()")).toEqual([])
  })

  it("keeps the two halves of cowork apart", () => {
    const web = (text: string) => check("apps/cowork/src/web/client.ts", text)
    expect(web(`import { app } from "../server/app.js"`)).toEqual([
      expect.stringContaining("the page runs in a browser"),
    ])
    expect(web(`import { openRuntime } from "@ku0/agent-runtime"`)).toEqual([
      expect.stringContaining("the page runs in a browser"),
    ])
    expect(web(`import { a } from "../api.js"\nimport { b } from "./b.js"\nimport "react"`)).toEqual([])
    expect(check("apps/cowork/src/server/app.ts", `import "../web/state.js"`)).toHaveLength(1)
    expect(check("apps/cowork/src/api.ts", `import "./server/app.js"`)).toHaveLength(1)
  })

  it("refuses a second barrel and a package without a row", () => {
    const barrel = `export * from "./a.js"\nexport * from "./b.js"`
    expect(inCore(barrel, "index.ts")).toEqual([])
    expect(inCore(barrel, "more.ts")).toEqual([expect.stringContaining("re-exports only")])
    const stranger: Member = { name: "@ku0/stranger", folder: "packages/stranger", dependencies: [], entries: [] }
    expect(findViolations([{ path: "packages/stranger/src/a.ts", text: "" }], [stranger])).toHaveLength(1)
  })

  it("prints a cycle as the way round, and lets types and late imports close one", () => {
    const files = (last: string) => [
      { path: `${core.folder}/src/a.ts`, text: `import { b } from "./b.js"` },
      { path: `${core.folder}/src/b.ts`, text: `export { c } from "./c.js"\nexport const b = 1` },
      { path: `${core.folder}/src/c.ts`, text: last },
    ]
    const src = `${core.folder}/src`
    expect(findViolations(files(`import { a } from "./a.js"`), made)).toEqual([
      expect.stringContaining(`${src}/a.ts → ${src}/b.ts → ${src}/c.ts → ${src}/a.ts: a cycle`),
    ])
    expect(findViolations(files(`import type { A } from "./a.js"`), made)).toEqual([])
    expect(findViolations(files(`const a = () => import("./a.js")`), made)).toEqual([])
  })
})
