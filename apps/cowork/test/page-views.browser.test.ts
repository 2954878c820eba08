/** What every view of the page holds: usable by everyone, unmoved by hostile content, and few nodes whatever the size. */
import { createRequire } from "node:module"
import { gzipSync } from "node:zlib"
import { openRuntime, type SessionId } from "@ku0/agent-runtime"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import {
  buildOnce,
  createPlace,
  listenForProblems,
  openBrowser,
  type Place,
  patienceMs,
  type RunningServer,
  runs,
  says,
  writes,
} from "./browser-place.js"

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js")

let browser: Browser
let context: BrowserContext
let page: Page
let place: Place

beforeAll(async () => {
  await buildOnce()
  browser = await openBrowser()
})
afterAll(() => browser?.close())

beforeEach(async () => {
  place = createPlace()
  // what is looked at is put in by the test's own tools, which the page's policy would refuse
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(patienceMs)
  page = await context.newPage()
})
afterEach(async () => {
  await context?.close()
  await place?.remove()
})

async function enter(server: RunningServer): Promise<void> {
  await page.goto(server.loginUrl)
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor()
}

async function show(hash: string, selector: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page
    .locator(selector)
    .first()
    .waitFor()
    .catch(async (cause: unknown) => {
      const shown = await page.locator("#root").textContent()
      throw new Error(`${hash} has no ${selector}; it shows: ${shown?.slice(0, 500)}`, { cause })
    })
}

const countNodes = () => page.evaluate(() => document.querySelectorAll("*").length)

describe("accessibility", () => {
  it("has no violation that axe can find, in any view, light and dark, wide and narrow", async () => {
    place.write("README.md", "# sums\n")
    const first = place.script([
      writes("src/sum.mjs", "export const sum = (a, b) => a + b\n", "I add sum()."),
      says("sum() is there."),
    ])
    place.ask("run", "add sum", "--script", first, "--approval", "auto")
    const [{ id }] = place.ask("session", "list").sessions
    const second = place.script([
      writes("src/sum.mjs", "export const sum = (...all) => all.reduce((a, b) => a + b, 0)\n", "Any number."),
      runs("rm README.md", "I clean up."),
      says("Done."),
    ])
    place.ask("run", "-S", id, "any number", "--script", second, "--approval", "auto")
    place.ask("rewind", "2", "-S", id, "--yes")
    const { checkpoints } = place.ask("checkpoint", "list", "-S", id)
    const changed = checkpoints.findLast(
      (one: { trigger: string; snapshot: { filesChanged: number } }) =>
        one.trigger === "turn.ended" && one.snapshot.filesChanged > 0,
    )
    await noteStale(id, "src/sum.mjs")
    const at = `#/sessions/${id}/checkpoints/${changed.id}`
    const views: readonly (readonly [name: string, hash: string, selector: string])[] = [
      ["sessions", "#/", ".session-row"],
      ["session", `#/sessions/${id}`, ".message"],
      ["changes", `${at}/changes`, ".dline"],
      ["messages", `${at}/messages`, ".message"],
      ["files", `${at}/files/src%2Fsum.mjs`, ".line"],
      ["state", `${at}/state`, ".pane"],
      ["details", `${at}/details`, ".facts"],
      ["compare", `#/sessions/${id}/compare`, ".side"],
      ["replay", `#/sessions/${id}/replay`, ".player"],
      ["unknown", "#/nowhere", ".empty"],
    ]
    const server = await place.serve()
    await enter(server)
    await show(`#/sessions/${id}`, ".notice-warning")
    expect(await page.locator(".notice-warning").textContent()).toContain("Stale file context detected")
    const found: string[] = []
    const look = async (name: string) => {
      const violations = await findViolations()
      found.push(...violations.map((words) => `${name}: ${words}`))
    }
    for (const [colorScheme, width] of [
      ["light", 1280],
      ["dark", 1280],
      ["light", 360],
      ["dark", 360],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" })
      await page.setViewportSize({ width, height: 800 })
      for (const [name, hash, selector] of views) {
        await show(hash, selector)
        await look(`${name} ${colorScheme} ${width}`)
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
        if (wide > 0) found.push(`${name} ${width}: ${wide} pixels wider than the window`)
      }
      await show(`${at}/changes`, ".dline")
      await page.keyboard.press("r")
      await page.locator(".plan").waitFor()
      await look(`restore ${colorScheme} ${width}`)
      await page.getByLabel("Only the files I choose").check()
      await page.locator(".pick").first().waitFor()
      await look(`choose files ${colorScheme} ${width}`)
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: "Delete the checkpoint…" }).click()
      await page.locator(".button-danger").waitFor()
      await look(`delete ${colorScheme} ${width}`)
      await page.keyboard.press("Escape")
      await page.keyboard.press("?")
      await page.locator(".keys").waitFor()
      await look(`help ${colorScheme} ${width}`)
      await page.keyboard.press("Escape")
    }
    await page.evaluate(() => sessionStorage.clear())
    await page.reload()
    await page.getByLabel("Token").waitFor()
    await look("door")
    expect(found).toEqual([])
  })
})

async function findViolations(): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.addScriptTag({ path: axe }).catch(addByHand)
  return page.evaluate(async () => {
    interface Result {
      violations: { id: string; nodes: { target: string[]; failureSummary?: string }[] }[]
    }
    const { axe: tool } = window as unknown as { axe: { run(): Promise<Result> } }
    const { violations } = await tool.run()
    return violations.map(
      ({ id, nodes }) =>
        `${id} at ${nodes
          .map(({ target }) => target.join(" "))
          .slice(0, 3)
          .join(", ")}`,
    )
  })
}

/** The policy refuses a script that is not the page's own; the browser's own door is not bound by it. */
async function addByHand(): Promise<void> {
  const { readFileSync } = await import("node:fs")
  await page.evaluate(readFileSync(axe, "utf8"))
}

async function noteStale(sessionId: string, path: string): Promise<void> {
  const runtime = await openRuntime({
    stateDirectory: place.stateDirectory,
    workspacePath: place.workspace,
    environment: process.env,
  })
  const data = {
    contextId: "1",
    path,
    absolutePath: `${place.workspace}/${path}`,
    status: "stale",
    recordSource: "watch",
  }
  await runtime.store.log.append(sessionId as SessionId, [{ type: "context:file-stale", data }])
  await runtime.close()
}

describe("colours", () => {
  it("follow the system until someone chooses, and the choice stays", async () => {
    const server = await place.serve()
    await page.emulateMedia({ colorScheme: "dark" })
    await enter(server)
    const back = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const dark = await back()
    await page.getByRole("button", { name: /^Colours/ }).click()
    await expect.poll(back, { timeout: patienceMs }).not.toBe(dark)
    const light = await back()
    await page.reload()
    await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor()
    await expect.poll(back, { timeout: patienceMs }).toBe(light)
    await page.keyboard.press("t")
    await expect.poll(back, { timeout: patienceMs }).toBe(dark)
  })
})

describe("what is sent to the browser", () => {
  it("is under 200 KB in all, compressed, and nothing comes from elsewhere", async () => {
    const asked = new Set<string>()
    const bodies: Promise<Buffer>[] = []
    page.on("response", (response) => {
      asked.add(new URL(response.url()).origin)
      if (!response.url().includes("/api/")) bodies.push(response.body())
    })
    const server = await place.serve()
    await enter(server)
    await page.getByText("No sessions yet.").waitFor()
    expect([...asked]).toEqual([new URL(server.url).origin])
    const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body).length, 0)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(200_000)
  })
})

describe("hostile content", () => {
  it("is shown as text: markup, control characters and marks that turn the direction round", async () => {
    const problems = listenForProblems(page)
    const markup = `<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>`
    const name = `evil\u202egnp.exe`
    place.write(name, "one\n")
    place.write("<b>bold<b>.txt", `${markup}\n`)
    const script = place.script([
      writes("tail\u2066.txt", `\u001b[31mred\u0007 ${markup}\n`, `${markup} \u202ereversed`),
      says(`javascript:alert(1) ${markup}`),
    ])
    place.ask("run", `${markup} task`, "--script", script, "--approval", "auto")
    const [{ id }] = place.ask("session", "list").sessions
    const { checkpoints } = place.ask("checkpoint", "list", "-S", id)
    const last = checkpoints.at(-1)
    const server = await place.serve()
    await enter(server)
    await page.locator(".session-row").filter({ hasText: "<script>window.hacked" }).waitFor()
    await show(`#/sessions/${id}`, ".message")
    await page.getByText("⟨U+202E⟩reversed").first().waitFor()
    await show(`#/sessions/${id}/checkpoints/${last.id}/files`, ".diff-name")
    await page.getByRole("link", { name: "evil⟨U+202E⟩gnp.exe" }).waitFor()
    await page.getByRole("link", { name: "<b>bold<b>.txt" }).click()
    await page.locator(".line", { hasText: "<img src=x" }).waitFor()
    await page.getByRole("link", { name: "tail⟨U+2066⟩.txt" }).click()
    await page.locator(".line", { hasText: "␛[31mred␇" }).waitFor()
    expect(await page.evaluate(() => "hacked" in window)).toBe(false)
    expect(await page.evaluate(() => document.querySelectorAll("main img, main script, main b.name").length)).toBe(0)
    expect(problems).toEqual([])
  })
})

describe("a lot of everything", () => {
  it("keeps few nodes in the page: thousands of messages, hundreds of checkpoints, a large difference", async () => {
    place.write("small.txt", "one\n")
    const runtime = await openRuntime({
      stateDirectory: place.stateDirectory,
      workspacePath: place.workspace,
      environment: process.env,
    })
    const session = await runtime.store.sessions.create({ workspacePath: place.workspace, name: "long" })
    for (let round = 0; round < 10; round++) {
      const drafts = Array.from({ length: 500 }, (_, index) => ({
        type: "message:added",
        data: { message: { role: "user" as const, content: `message ${round * 500 + index + 1}` } },
      }))
      await runtime.store.log.append(session.id, drafts)
    }
    for (let round = 0; round < 150; round++) await runtime.manager.take({ sessionId: session.id, trigger: "manual" })
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}`)
    place.write("large.txt", `${lines.join("\n")}\n`)
    for (let index = 0; index < 1_200; index++) place.write(`many/file-${index}.txt`, `${index}\n`)
    const last = await runtime.manager.take({ sessionId: session.id, trigger: "manual" })
    for (let index = 0; index < 300; index++) {
      await runtime.store.sessions.create({ workspacePath: place.workspace, name: `session ${index}` })
    }
    await runtime.close()

    const server = await place.serve()
    await enter(server)
    await page.locator(".session-row").nth(5).waitFor()
    expect(await countNodes()).toBeLessThan(1_200)
    await show(`#/sessions/${session.id}`, ".message")
    await page.locator(".message-text", { hasText: /^message 5000$/ }).waitFor()
    await page.locator(".graph-row").nth(5).waitFor()
    expect(await page.locator(".graph-row").count()).toBeLessThan(60)
    expect(await countNodes()).toBeLessThan(2_500)
    await page.locator(".messages").evaluate((element) => element.scrollTo(0, 0))
    await page.locator(".message-text", { hasText: /^message 1$/ }).waitFor()
    expect(await countNodes()).toBeLessThan(2_500)

    await show(`#/sessions/${session.id}/checkpoints/${last?.id}/changes`, ".dline")
    await page.locator(".diff-sum", { hasText: "1,201 files" }).waitFor()
    await page.getByRole("button", { name: /large\.txt/ }).click()
    await page.getByLabel("Differences in large.txt").getByText("line 3", { exact: true }).waitFor()
    expect(await page.locator(".dline").count()).toBeLessThan(200)
    await page.locator(".diff-lines").evaluate((element) => element.scrollTo(0, element.scrollHeight / 2))
    await page
      .getByText(/^line \d{4,5}$/)
      .first()
      .waitFor()
    expect(await countNodes()).toBeLessThan(2_500)
    await page.locator(".diff-files .scroller").evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await page
      .getByRole("button", { name: /many\/file-/ })
      .first()
      .waitFor()
    expect(await page.locator(".diff-name").count()).toBeLessThan(80)
  })
})
