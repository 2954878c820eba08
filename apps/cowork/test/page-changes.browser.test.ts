/** What someone can change in the page beyond the walk: names, pins, chosen files, what is deleted; and what it proves and warns of. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
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
  runs,
  says,
  writes,
} from "./browser-place.js"

let browser: Browser
let context: BrowserContext
let page: Page
let place: Place
let session: { id: string; name: string }
let first: { id: string; number: number }

beforeAll(async () => {
  await buildOnce()
  browser = await openBrowser()
})
afterAll(() => browser?.close())

beforeEach(async () => {
  place = createPlace()
  place.write("one.txt", "one\n")
  place.write("two.txt", "two\n")
  const script = place.script([writes("three.txt", "three\n", "A third one."), says("Three files.")])
  place.ask("run", "count to three", "--script", script, "--approval", "auto")
  session = place.ask("session", "list").sessions[0]
  first = place.ask("checkpoint", "list", "-S", session.id).checkpoints.at(-1)
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(patienceMs)
  page = await context.newPage()
})
afterEach(async () => {
  await context?.close()
  await place?.remove()
})

async function enter(hash: string): Promise<void> {
  const server = await place.serve()
  await page.goto(server.loginUrl)
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor()
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
}

const atSession = () => `#/sessions/${session.id}`
const atCheckpoint = (tab = "changes") => `#/sessions/${session.id}/checkpoints/${first.id}/${tab}`
const button = (name: string) => page.getByRole("button", { name, exact: true })

describe("a session in the page", () => {
  it("gets another name, and is deleted only after a question", async () => {
    const problems = listenForProblems(page)
    await enter(atSession())
    await button("Rename the session…").click()
    const dialog = page.getByRole("dialog")
    const field = dialog.getByLabel("New name")
    expect(await field.inputValue()).toBe(session.name)
    await field.fill("   ")
    expect(await dialog.getByRole("button", { name: "Rename", exact: true }).isDisabled()).toBe(true)
    await field.fill("counted")
    await field.press("Enter")
    await page.getByRole("heading", { level: 1, name: "counted" }).waitFor()
    expect(place.ask("session", "list").sessions[0].name).toBe("counted")

    await button("Delete the session…").click()
    await dialog.getByText("This can't be undone.").waitFor()
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await dialog.waitFor({ state: "hidden" })
    expect(place.ask("session", "list").sessions).toHaveLength(1)
    await button("Delete the session…").click()
    await dialog.getByRole("button", { name: "Delete it" }).click()
    await page.getByText("No sessions yet.").waitFor()
    expect(place.ask("session", "list").sessions).toEqual([])
    expect(place.read("three.txt"), "the files stay").toBe("three\n")
    expect(problems).toEqual([])
  })

  it("is not deleted while it runs, nor is its checkpoint, and the page says why", async () => {
    await enter(atCheckpoint())
    await page.getByRole("heading", { level: 2, name: `#${first.number}` }).waitFor()
    const script = place.script([runs("until [ -e ../free ]; do sleep 0.05; done", "I wait."), says("Done waiting.")])
    const running = place.start("run", "-S", session.id, "wait", "--script", script, "--approval", "auto")
    const ended = new Promise((resolve) => running.once("close", resolve))
    await page.getByText(/This session is held by/).waitFor()
    const dialog = page.getByRole("dialog")
    for (const at of [button("Delete the session…"), button("Delete the checkpoint…")]) {
      await at.click()
      await dialog.getByRole("button", { name: "Delete it" }).click()
      await dialog.getByText("Nothing was changed.").waitFor()
      await dialog.getByText(new RegExp(`process ${running.pid} on`)).waitFor()
      await page.keyboard.press("Escape")
      await dialog.waitFor({ state: "hidden" })
    }
    writeFileSync(join(place.root, "free"), "")
    await ended
    expect(place.ask("checkpoint", "show", String(first.number), "-S", session.id).ok).toBe(true)
  })

  it("warns when a checkpoint could not be taken, until one was", async () => {
    await enter(atSession())
    await page.locator('[data-live="live"]').waitFor({ state: "attached" })
    const { stateDirectory, workspace: workspacePath } = place
    const runtime = await openRuntime({ stateDirectory, workspacePath, environment: process.env })
    const error = { code: "UNAVAILABLE", message: "No space left on the disk." }
    const draft = { type: "checkpoint:failed", data: { trigger: "turn.ended", error } }
    await runtime.store.log.append(session.id as SessionId, [draft])
    await runtime.close()
    const warning = page.getByRole("alert").filter({ hasText: "No space left on the disk." })
    await warning.filter({ hasText: "could not be taken" }).waitFor()
    await button("Checkpoint").click()
    await page.getByLabel("Name, if you want one").fill("saved again")
    await page.getByRole("button", { name: "Take it" }).click()
    await page.locator(".graph-row").filter({ hasText: "saved again" }).waitFor()
    await warning.waitFor({ state: "hidden" })
  })
})

describe("a checkpoint in the page", () => {
  it("is pinned, not deleted while it is, unpinned, and deleted after a question", async () => {
    await enter(atCheckpoint())
    await button("Pin").click()
    await button("Pinned").waitFor()
    const show = () => place.ask("checkpoint", "list", "-S", session.id).checkpoints
    expect(show().find(({ id }: { id: string }) => id === first.id).pinned).toBe(true)
    const dialog = page.getByRole("dialog")
    await button("Delete the checkpoint…").click()
    await dialog.getByText("This checkpoint is pinned. Unpin it first.").waitFor()
    expect(await dialog.getByRole("button", { name: "Delete it" }).isDisabled()).toBe(true)
    await page.keyboard.press("Escape")
    await button("Pinned").click()
    await button("Pin").waitFor()
    const before = show().length
    await expect.poll(() => page.locator(".graph-row").count(), { timeout: patienceMs }).toBe(before)
    await button("Delete the checkpoint…").click()
    await dialog.getByRole("button", { name: "Delete it" }).click()
    await page.getByRole("article").first().waitFor()
    await expect.poll(() => page.locator(".graph-row").count(), { timeout: patienceMs }).toBe(before - 1)
    expect(show().map(({ id }: { id: string }) => id)).not.toContain(first.id)
  })

  it("gives back only the files that were chosen, from its plan or from its files", async () => {
    for (const name of ["one", "two", "three"]) place.write(`${name}.txt`, "changed by hand\n")
    await enter(atCheckpoint("files/one.txt"))
    await button("Restore…").click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Only the files I choose").check()
    const restore = dialog.getByRole("button", { name: "Restore", exact: true })
    await dialog.getByLabel("two.txt").waitFor()
    expect(await restore.isDisabled(), "nothing is chosen yet").toBe(true)
    await dialog.getByLabel("two.txt").check()
    await restore.click()
    await dialog.getByText("1 file written, 0 files deleted.").waitFor()
    const read = () => ["one.txt", "two.txt", "three.txt"].map((path) => place.read(path).trim())
    expect(read()).toEqual(["changed by hand", "two", "changed by hand"])
    await dialog.getByRole("button", { name: "Close" }).last().click()

    await button("Restore this file…").click()
    await dialog.getByText("1 file written").waitFor()
    expect(await dialog.getByLabel("one.txt").isChecked()).toBe(true)
    await restore.click()
    await dialog.getByText("1 file written, 0 files deleted.").waitFor()
    expect(read()).toEqual(["one", "two", "changed by hand"])
    await dialog.getByRole("button", { name: "Close" }).last().click()
    await button("Restore this file…").click()
    await dialog.getByText("is as then already.").waitFor()
    expect(await restore.isDisabled()).toBe(true)
  })
})

describe("a replay in the page", () => {
  it("is verified, and says what was compared", async () => {
    await enter(`${atSession()}/replay`)
    await button("Verify").click()
    await page
      .getByText(/All fits: \d+ entr\w+, \d+ messages?, \d+ tool calls?, \d+ checkpoints? compared\.$/)
      .waitFor()
  })
})
