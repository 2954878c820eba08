/** The built program in a pseudo-terminal, as a person starts it. */
import { createRequire } from "node:module"
import { join } from "node:path"
import { repository } from "../harness/build.mjs"
import { cleanEnvironment } from "../harness/process.mjs"

const { spawn } = createRequire(join(repository, "apps/cli/package.json"))("@lydell/node-pty")
const program = join(repository, "apps/cli/dist/keepup.cjs")

/** `onData` hears what is drawn. `sees` resolves when a text was drawn since the last one that was waited for. */
export function openTerminal(folder, words, more = {}, nodeWords = []) {
  const started = performance.now()
  const child = spawn(process.execPath, [...nodeWords, program, ...words], {
    cols: 80,
    rows: 24,
    cwd: join(folder, "workspace"),
    env: cleanEnvironment({ HOME: join(folder, "home"), TERM: "xterm-256color", ...more }),
  })
  let drawn = ""
  let looks = []
  child.onData((text) => {
    drawn += text
    looks = looks.filter((look) => !look())
  })
  const sees = (text) =>
    new Promise((resolve) => {
      const look = () => {
        if (!drawn.includes(text)) return false
        drawn = drawn.slice(drawn.indexOf(text) + text.length)
        resolve(performance.now())
        return true
      }
      if (!look()) looks.push(look)
    })
  return {
    started,
    pid: child.pid,
    type: (keys) => child.write(keys),
    sees,
    /** Forgets what was drawn so far. */
    forget() {
      drawn = ""
    },
    end: () =>
      new Promise((resolve) => {
        child.onExit(resolve)
        child.kill("SIGKILL")
      }),
  }
}
