/** The checks of `pnpm check` notice what they are for, and the test script keeps its word. */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { checkDocs } from "../scripts/check-docs.mjs"
import { checkFileSize } from "../scripts/check-file-size.mjs"
import { checkPins } from "../scripts/check-pins.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))

describe("file size", () => {
  const lines = (count: number, first = "") => `${first}${"\n".repeat(count)}`

  it("warns from 300 lines, fails over 500, and over 800 in a test", () => {
    const files = [
      { path: "a.ts", text: lines(299) },
      { path: "b.ts", text: lines(300) },
      { path: "c.ts", text: lines(501) },
      { path: "d.test.ts", text: lines(800) },
      { path: "e.test.ts", text: lines(801) },
      { path: "f.tsx", text: lines(501) },
      { path: "g.test.tsx", text: lines(800) },
    ]
    const { problems, warnings } = checkFileSize(files)
    expect(warnings).toEqual([expect.stringContaining("b.ts: 300 lines")])
    expect(problems).toEqual([
      expect.stringContaining("c.ts: 501"),
      expect.stringContaining("e.test.ts: 801"),
      expect.stringContaining("f.tsx: 501"),
    ])
  })

  it("takes a reason on the first line, and no empty one", () => {
    const { problems } = checkFileSize([
      { path: "a.ts", text: lines(900, "/** file-size: one table, read from top to bottom */") },
      { path: "b.ts", text: lines(900, "/** file-size: */") },
    ])
    expect(problems).toEqual([expect.stringContaining("b.ts")])
  })
})

describe("pins", () => {
  const lock = { path: "pnpm-lock.yaml", text: "lockfileVersion: '9.0'\n" }
  const manifest = (dependencies: object) => ({ path: "package.json", text: JSON.stringify({ dependencies }) })

  it("accepts exact versions, aliases and the workspace", () => {
    const exact = { a: "1.2.3", b: "npm:typescript@7.0.2", c: "workspace:*", d: "18.4.0-beta.17" }
    expect(checkPins([lock, manifest(exact)]).problems).toEqual([])
  })

  it("refuses ranges, tags and addresses", () => {
    expect(
      checkPins([lock, manifest({ a: "^1.2.3", b: "latest", c: "https://example.org/c.tgz" })]).problems,
    ).toHaveLength(3)
    const address = { ...lock, text: `resolution: {tarball: ${["https:", "", "example.org", "a.tgz"].join("/")}}\n` }
    expect(checkPins([address]).problems).toEqual([expect.stringContaining("pnpm-lock.yaml:1")])
  })
})

describe("docs", () => {
  it("notices a dead link, a path of one machine, and a proof that is not there", () => {
    const check = (path: string, text: string) => checkDocs([{ path, text }]).problems
    expect(check("README.md", "[here](docs/nowhere.md), [there](package.json), `[code](x)`")).toHaveLength(1)
    expect(check("README.md", `see ${["", "home", "ann", "keepup"].join("/")}`)).toHaveLength(1)
    const row = (file: string, title: string) => `| 1 | something | \`${file}\` "${title}" |`
    expect(check("docs/scenarios.md", row("test/checks.test.ts", "accepts exact versions, aliases"))).toEqual([])
    expect(check("docs/scenarios.md", row("test/checks.test.ts", ["not", "a title"].join(" ")))).toHaveLength(1)
    expect(check("docs/scenarios.md", row("test/none.test.ts", "x"))).toHaveLength(1)
  })
})

describe("the test script", () => {
  const run = (...args: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), "keepup-counts-"))
    const counts = join(folder, "counts")
    return new Promise<{ status: number; counts: unknown }>((resolve) => {
      const env = { ...process.env, KEEPUP_TEST_COUNTS: counts }
      execFile(process.execPath, ["scripts/test.mjs", ...args], { cwd: root, env }, (error) => {
        const line = readFileSync(counts, "utf8")
        rmSync(folder, { recursive: true })
        resolve({ status: error ? 1 : 0, counts: JSON.parse(line) })
      })
    })
  }

  it("maps --grep, drops the -- that pnpm hands through, and counts", async () => {
    const { status, counts } = await run("--", "test/architecture.test.ts", "--grep", "prints a cycle|second barrel")
    expect(status).toBe(0)
    expect(counts).toMatchObject({ passed: 2, failed: 0 })
  })

  it("fails when a filter leaves nothing to run", async () => {
    const { status, counts } = await run("test/architecture.test.ts", "--grep=no test has this name")
    expect(status).toBe(1)
    expect(counts).toMatchObject({ passed: 0, failed: 0 })
  })
})
