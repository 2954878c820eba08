/** Everything in a folder as one comparable value: kinds, full modes, bytes, links and empty folders. */
import { createHash } from "node:crypto"
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs"

export interface PictureOptions {
  /** Also when each file was last changed, and which file it is: a file that was not touched looks the same. */
  readonly withTimes?: boolean
  /** Names that are left out, with all below them. */
  readonly without?: readonly string[]
}

/** Path → what is there. Names and link targets are bytes, one character each. */
export function takePicture(root: string, options: PictureOptions = {}): Record<string, string> {
  const picture: [string, string][] = []
  const walk = (folder: Buffer, path: string) => {
    for (const name of readdirSync(folder, { encoding: "latin1" })) {
      if (options.without?.includes(name)) continue
      const inner = Buffer.concat([folder, Buffer.from(`/${name}`, "latin1")])
      const innerPath = path === "" ? name : `${path}/${name}`
      picture.push([innerPath, describe(inner, options.withTimes === true)])
      if (lstatSync(inner).isDirectory()) walk(inner, innerPath)
    }
  }
  walk(Buffer.from(root), "")
  return Object.fromEntries(picture.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function describe(path: Buffer, withTimes: boolean): string {
  const stat = lstatSync(path, { bigint: true })
  const mode = (stat.mode & 0o7777n).toString(8)
  if (stat.isDirectory()) return `folder ${mode}`
  const times = withTimes ? ` ${stat.mtimeNs} ${stat.ino}` : ""
  if (stat.isSymbolicLink()) return `link ${readlinkSync(path, "latin1")}${times}`
  if (!stat.isFile()) return `special ${mode}`
  return `file ${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}${times}`
}
