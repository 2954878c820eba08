/** The page in a real browser, on a real server and a real store: from the list to the way back. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
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
  until,
  writes,
} from "./browser-place.js"

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
  place.write("README.md", "# sums\n")
  place.write("sum.mjs", "export const sum = (a, b) => a + b\n")
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(patienceMs)
  page = await context.newPage()
})
afterEach(async () => {
  await context?.close()
  await place?.remove()
})

/** A good run, and one that broke the program. Returns the session. */
function work(): { id: string; name: string } {
  const good = place.script([
    writes("product.mjs", "export const product = (a, b) => a * b\n", "I add product()."),
    says("product() is there."),
  ])
  place.ask("run", "add product", "--script", good, "--approval", "auto")
  const bad = place.script([
    writes("sum.mjs", "export const sum = (a, b) => a - b\n", "I make it faster."),
    runs("rm README.md product.mjs", "I clean up."),
    says("Much shorter now."),
  ])
  place.ask("run", "-S", "latest", "make it faster", "--script", bad, "--approval", "auto")
  return place.ask("session", "list").sessions[0]
}

async function enter(server: RunningServer, hash = ""): Promise<void> {
  await page.goto(server.loginUrl)
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor()
  if (hash !== "") await go(hash)
}

async function go(hash: string): Promise<void> {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
}

const goodNumber = (id: string) =>
  place
    .ask("checkpoint", "list", "-S", id)
    .checkpoints.find((one: { trigger: string }) => one.trigger === "run.ended") as { id: string; number: number }

describe("the walk through the page", () => {
  it("goes from the list to a checkpoint, its differences, a restore, its undo, a branch and a replay", async () => {
    const problems = listenForProblems(page)
    const session = work()
    const good = goodNumber(session.id)
    const server = await place.serve()
    await enter(server)
    expect(page.url(), "the code is gone from the address").toBe(server.url)

    await page.getByRole("link", { name: /add product/ }).click()
    await page.getByRole("heading", { level: 1, name: session.name }).waitFor()
    await page
      .getByRole("article", { name: /assistant/ })
      .filter({ hasText: "Much shorter now." })
      .waitFor()

    const row = page
      .locator(".graph-row")
      .filter({ hasText: `#${good.number}` })
      .first()
    await row.click()
    await page.getByRole("heading", { level: 2, name: `#${good.number}` }).waitFor()
    await page.getByLabel("Changes", { exact: true }).selectOption({ label: "from here to the workspace now" })
    await page.getByRole("button", { name: /sum\.mjs/ }).click()
    const lines = page.getByLabel("Differences in sum.mjs")
    await lines.locator(".dline-removed", { hasText: "a + b" }).waitFor()
    expect(await lines.locator(".dline-added mark").allTextContents()).toEqual(["-"])
    await page.getByRole("button", { name: "Side by side" }).click()
    await lines.locator(".pair").first().waitFor()

    await page.getByRole("link", { name: "Files", exact: true }).click()
    await page.getByRole("link", { name: "product.mjs" }).click()
    await page.getByLabel("Content of product.mjs").getByText("a * b").waitFor()

    await page.getByRole("button", { name: "Restore…" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByText("3 files written").waitFor()
    expect(place.has("product.mjs"), "a plan changes nothing").toBe(false)
    await dialog.getByRole("button", { name: "Restore", exact: true }).click()
    await dialog.getByText(`Restored to checkpoint #${good.number}.`).waitFor()
    expect(place.read("sum.mjs")).toContain("a + b")
    expect(place.has("product.mjs")).toBe(true)
    await dialog.getByRole("button", { name: "Close" }).last().click()
    await dialog.waitFor({ state: "hidden" })

    await page.getByRole("button", { name: "Undo restore" }).click()
    await until(() => !place.has("product.mjs"), "the restore is not undone")
    expect(place.read("sum.mjs")).toContain("a - b")
    await page.getByText("Files and conversation were restored").waitFor({ state: "hidden" })

    await page.getByRole("button", { name: "Branch…" }).click()
    await dialog.getByLabel("Name of the new session").fill("second attempt")
    await dialog.getByText("3 files written").waitFor()
    await dialog.getByRole("button", { name: "Make the branch" }).click()
    await dialog.getByText("Original session preserved.").waitFor()
    await dialog.getByRole("button", { name: "Open the new session" }).click()
    await page.getByRole("heading", { level: 1, name: "second attempt" }).waitFor()
    expect(place.read("sum.mjs")).toContain("a + b")
    expect(place.ask("session", "list").sessions).toHaveLength(2)

    await go(`#/sessions/${session.id}/compare`)
    await page.getByText(/They share \d+ messages/).waitFor()
    await page.getByRole("button", { name: /product\.mjs/ }).waitFor()

    await go(`#/sessions/${session.id}/replay`)
    const slider = page.getByRole("slider", { name: "Place in the replay" })
    await expect.poll(() => slider.getAttribute("max").then(Number), { timeout: patienceMs }).toBeGreaterThan(5)
    const total = Number(await slider.getAttribute("max"))
    await page.getByRole("button", { name: "One step on" }).click()
    await expect.poll(() => slider.inputValue(), { timeout: patienceMs }).toBe("1")
    await page.getByLabel("Speed").selectOption("64")
    await page.getByRole("button", { name: "Play" }).click()
    await expect.poll(() => slider.inputValue().then(Number), { timeout: patienceMs }).toBe(total)
    await slider.fill("2")
    await page.getByText(`2 of ${total} entries`).waitFor()
    expect(problems).toEqual([])
  })

  it("can be walked with the keyboard alone", async () => {
    const session = work()
    const server = await place.serve()
    await enter(server)
    await page.locator(".session-row").first().waitFor()
    await page.keyboard.press("Tab")
    await page.getByRole("button", { name: "Skip to the content" }).press("Enter")
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("main")
    await page.keyboard.press("/")
    await page.keyboard.type("product")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 1, name: session.name }).waitFor()

    const rows = page.locator(".graph-row")
    await rows.first().focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("j")
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-row") === "2")
    expect(await page.locator('.graph-row[tabindex="0"]').count(), "one row is reached with Tab").toBe(1)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { level: 2, name: /^#/ }).waitFor()
    await page.keyboard.press("r")
    const dialog = page.getByRole("dialog", { name: /^Restore/ })
    await dialog.waitFor()
    expect(await dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true)
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "hidden" })
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "hidden" })
    await page.keyboard.press("Escape")
    await page.getByRole("article").first().waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor()
  })
})

describe("the page while others work", () => {
  it("shows what another process does, without a reload", async () => {
    const session = work()
    const server = await place.serve()
    await enter(server)
    await page.locator(".session-row").first().waitFor()
    const script = place.script([writes("live.txt", "live\n", "Here it comes."), says("Seen without a reload.")])
    place.ask("run", "a session of its own", "--script", script, "--approval", "auto")
    await page.getByRole("link", { name: /a session of its own/ }).waitFor()

    await page.getByRole("link", { name: /add product/ }).click()
    await page.getByText("Much shorter now.").waitFor()
    const before = await page.locator(".graph-row").count()
    const more = place.script([writes("more.txt", "more\n", "More."), says("A message from elsewhere.")])
    place.ask("run", "-S", session.id, "go on", "--script", more, "--approval", "auto")
    await page.getByText("A message from elsewhere.").waitFor()
    await expect.poll(() => page.locator(".graph-row").count(), { timeout: patienceMs }).toBeGreaterThan(before)
  })

  it("explains who holds a running session, refuses a restore, and goes on once it is free", async () => {
    const session = work()
    const good = goodNumber(session.id)
    const server = await place.serve()
    await enter(server, `#/sessions/${session.id}/checkpoints/${good.id}`)
    await page.getByRole("heading", { level: 2, name: `#${good.number}` }).waitFor()
    const script = place.script([runs("until [ -e ../free ]; do sleep 0.05; done", "I wait."), says("Done waiting.")])
    const running = place.start("run", "-S", session.id, "wait", "--script", script, "--approval", "auto")
    const ended = new Promise((resolve) => running.once("close", resolve))
    await page.getByText(/This session is held by/).waitFor()
    await page.getByText(new RegExp(`process ${running.pid} on .*, since \\d\\d:`)).waitFor()

    await page.getByRole("button", { name: "Restore…" }).click()
    const dialog = page.getByRole("dialog")
    const restore = dialog.getByRole("button", { name: "Restore", exact: true })
    const refused = dialog.getByText("Cannot restore checkpoint while a task is running.")
    await Promise.race([refused.waitFor(), restore.and(page.locator(":enabled")).waitFor()])
    if (!(await refused.isVisible())) await restore.click()
    await refused.waitFor()
    await dialog.getByText(/keepup pause/).waitFor()
    await dialog.getByText("Nothing was changed.").waitFor()
    expect(place.has("product.mjs"), "nothing was changed").toBe(false)

    writeFileSync(join(place.root, "free"), "")
    await ended
    await page.getByText(/This session is held by/).waitFor({ state: "hidden" })
    await dialog.getByRole("button", { name: "Try again" }).click()
    await dialog.getByText(/files written/).waitFor()
    await restore.click()
    await dialog.getByText(`Restored to checkpoint #${good.number}.`).waitFor()
    expect(place.has("product.mjs")).toBe(true)
  })

  it("says that the connection is lost, and catches up when the server is back", async () => {
    const session = work()
    const server = await place.serve()
    await enter(server, `#/sessions/${session.id}`)
    await page.getByText("Much shorter now.").waitFor()
    await page.locator('[data-live="live"]').waitFor({ state: "attached" })
    await server.kill()
    await page.getByText("Connection lost, trying again.").waitFor()
    const more = place.script([writes("more.txt", "more\n", "More."), says("Said while nobody listened.")])
    place.ask("run", "-S", session.id, "go on", "--script", more, "--approval", "auto")
    await place.serve(Number(new URL(server.url).port))
    await page.getByText("Said while nobody listened.").waitFor()
    await page.getByText("Connection lost, trying again.").waitFor({ state: "hidden" })
    expect(await page.getByText("Much shorter now.").count(), "nothing comes twice").toBe(1)
  })
})

describe("the door", () => {
  it("asks for the token, says when it is wrong, and opens with the right one", async () => {
    const server = await place.serve()
    await page.goto(`${server.url}#code=not-a-code`)
    const field = page.getByLabel("Token")
    await field.waitFor()
    expect(page.url()).toBe(server.url)
    await field.fill("wrong")
    await page.getByRole("button", { name: "Open" }).click()
    await page.getByText("This is not the token of this server.").waitFor()
    const { readFileSync } = await import("node:fs")
    await field.fill(readFileSync(join(place.stateDirectory, "token"), "utf8").trim())
    await page.getByRole("button", { name: "Open" }).click()
    await page.getByText("No sessions yet.").waitFor()
    await page.getByText('keepup run "make the tests pass"').waitFor()
    await page.reload()
    await page.getByText("No sessions yet.").waitFor()
  })
})
