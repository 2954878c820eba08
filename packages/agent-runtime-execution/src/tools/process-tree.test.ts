import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { expect, test } from "vitest"
import { useWorkspace } from "../../test/temporary-workspace.js"
import { createProcessTree } from "./process-tree.js"

const folder = useWorkspace()

test.each([
  ["/proc tells", "/proc"],
  ["only ps tells", ""],
])("finds what a process started, in sessions of their own too, and ends it: %s", async (_, procPath) => {
  const command = "setsid sh -c 'echo ready; sleep 600' & sleep 600"
  const child = spawn("/bin/sh", ["-c", command], { detached: true, stdio: ["ignore", "pipe", "ignore"] })
  const ended = once(child, "close")
  await once(child.stdout, "data")
  const tree = createProcessTree(child.pid as number, [], procPath || join(folder.path, "no-proc"))
  expect(await tree.find()).toBe(true)
  await tree.end()
  expect(await tree.find()).toBe(false)
  await ended // the pipe is closed: nobody holds it any more
})
