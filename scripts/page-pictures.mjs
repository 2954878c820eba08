/**
 * Makes docs/cowork-light.png and docs/cowork-dark.png, the pictures of the page, from a real run: `keepup demo` leaves
 * its sessions, `keepup serve` shows them, a real browser looks. Run `pnpm build` first, then `node scripts/page-pictures.mjs`.
 * With a folder as argument it puts every view there, in three widths, light and dark, to be looked at.
 */
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { root } from "./workspace.mjs"

const { chromium } = createRequire(join(root, "apps/cowork/package.json"))("playwright-core")
const program = join(root, "apps/cli/dist/keepup.cjs")
const folder = process.argv[2]

const kept = execFileSync(process.execPath, [program, "demo", "--keep"], { encoding: "utf8" })
const workspace = /^ *cd (\S+)$/m.exec(kept)?.[1]
const stateDirectory = /KEEPUP_STATE_DIR=(\S+)$/m.exec(kept)?.[1]
if (workspace === undefined || stateDirectory === undefined) {
  throw new Error("keepup demo --keep does not say any more where it left its workspace.")
}
const place = dirname(workspace)
const options = { cwd: workspace, env: { ...process.env, KEEPUP_STATE_DIR: stateDirectory } }

const server = spawn(process.execPath, [program, "serve", "--port", "0", "--json"], {
  ...options,
  stdio: ["ignore", "pipe", "inherit"],
})
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox"] })
try {
  const { url, loginUrl } = await readAddress(server)
  const context = await browser.newContext({ deviceScaleFactor: 2 })
  const page = await context.newPage()
  await page.goto(loginUrl)
  await page.locator(".session-row").first().waitFor()
  const views = await findViews()
  if (folder === undefined) await takeForReadme(page, views)
  else await takeAll(page, views, url)
} finally {
  await browser.close()
  server.kill("SIGTERM")
  rmSync(place, { recursive: true, force: true })
}

function findBrowser() {
  const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
  const found = process.env.CHROMIUM ?? places.find((path) => existsSync(path))
  if (found === undefined) throw new Error("There is no browser: install chromium, or set CHROMIUM.")
  return found
}

async function readAddress(child) {
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line).server
  throw new Error("keepup serve ended before it said its address.")
}

function ask(...words) {
  return JSON.parse(execFileSync(process.execPath, [program, ...words, "--json"], { ...options, encoding: "utf8" }))
}

async function findViews() {
  const { sessions } = ask("session", "list")
  const branch = sessions.find((session) => session.parentSessionId !== null)
  const first = sessions.find((session) => session.parentSessionId === null)
  const { checkpoints } = ask("checkpoint", "list", "-S", first.id)
  const broken = checkpoints.findLast((one) => one.trigger === "turn.ended" && one.snapshot?.filesChanged > 1)
  const at = `#/sessions/${first.id}/checkpoints/${broken.id}`
  return {
    sessions: ["#/", ".session-row"],
    session: [`#/sessions/${first.id}`, ".message"],
    changes: [`${at}/changes`, ".dline"],
    files: [`${at}/files/src%2Ftop.mjs`, ".line"],
    details: [`${at}/details`, ".facts"],
    state: [`${at}/state`, ".pane"],
    compare: [`#/sessions/${first.id}/compare/${branch.id}`, ".dline"],
    replay: [`#/sessions/${first.id}/replay`, ".player"],
  }
}

async function show(page, [hash, selector]) {
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await page.locator(selector).first().waitFor()
  await page.evaluate(() => document.fonts.ready)
}

async function takeForReadme(page, views) {
  await page.setViewportSize({ width: 1280, height: 800 })
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme })
    await show(page, views.changes)
    await page.locator(".diff-name", { hasText: "src/tally.mjs" }).click()
    await page.locator(".dline-added").first().waitFor()
    await page.evaluate(hidePlace)
    await page.screenshot({ path: join(root, `docs/cowork-${colorScheme}.png`) })
  }
}

/** The name of a throw-away folder says nothing to anyone. Runs in the page. */
function hidePlace() {
  for (const one of document.querySelectorAll(".name.code")) {
    if (one.firstChild) one.firstChild.data = one.textContent.replace(/\S*keepup-demo-\w+/, "~")
  }
}

async function takeAll(page, views) {
  mkdirSync(folder, { recursive: true })
  for (const width of [1280, 768, 360]) {
    await page.setViewportSize({ width, height: width < 500 ? 740 : 800 })
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme })
      for (const [name, view] of Object.entries(views)) {
        await show(page, view)
        await page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) })
      }
      await show(page, views.changes)
      await page.keyboard.press("r")
      await page.locator(".plan").waitFor()
      await page.screenshot({ path: join(folder, `restore-${width}-${colorScheme}.png`) })
      await page.keyboard.press("Escape")
      await show(page, views.changes)
      await page.locator(".diff-name", { hasText: "src/tally.mjs" }).click()
      await page.keyboard.press("s")
      await page.locator(".pair").first().waitFor()
      await page.screenshot({ path: join(folder, `side-by-side-${width}-${colorScheme}.png`) })
      await page.keyboard.press("s")
      await show(page, views.replay)
      await page.locator('input[type="range"]:not([max="0"])').fill("14")
      await page.locator(".event-last, .message").first().waitFor()
      await page.screenshot({ path: join(folder, `replayed-${width}-${colorScheme}.png`) })
    }
  }
}
