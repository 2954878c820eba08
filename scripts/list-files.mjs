/** The files git knows or would take: what a commit of everything would hold. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.mjs"

export function listFiles() {
  const output = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  })
  return output.split("\0").filter((path) => path !== "" && existsSync(join(root, path)))
}
