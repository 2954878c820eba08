/**
 * A wall between commands of a replay and what they must not touch: in a mount namespace of their own the copy stands at
 * the place of the workspace, and an empty folder at that of keepup's state. It holds for every path, however a command
 * comes by it. Linux only, with `unshare` and `mount`; what differs between systems is here.
 */
import { execFile } from "node:child_process"
import { mkdir, realpath, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

export interface ContainCommandsOptions {
  readonly workspacePath: string
  /** The copy. */
  readonly scratch: string
  readonly stateDirectory: string
  /** An empty folder for what is needed on the way. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** `mount --bind` for each pair of folders up to `--`, then the command. */
const script = `set -e; while [ "$1" != -- ]; do mount --bind "$1" "$2"; shift 2; done; shift; exec "$@"`

/** The program and its arguments to put before a command; `undefined` where the system does not let us. */
export async function containCommands(options: ContainCommandsOptions): Promise<readonly string[] | undefined> {
  const { folder, environment } = options
  const empty = join(folder, "empty")
  await mkdir(empty, { recursive: true })
  const kind = await findKind(folder, environment)
  if (kind === undefined) return undefined
  const pairs: [string, string][] = []
  const workspace = await findFolder(options.workspacePath)
  const state = await findFolder(options.stateDirectory)
  if (workspace !== undefined) pairs.push([options.scratch, workspace])
  if (state !== undefined) pairs.push([empty, state])
  return launcher(kind, pairs)
}

/** `root` mounts as it is; anybody else is root in a namespace for that, and itself again in one inside. */
type Kind = "root" | "user"

/** Tries it out: a folder is put over another one, where it must be seen. */
async function findKind(folder: string, env: Readonly<Record<string, string>>): Promise<Kind | undefined> {
  const [shown, hidden] = [join(folder, "shown"), join(folder, "hidden")]
  await mkdir(shown)
  await mkdir(hidden)
  await writeFile(join(shown, "mark"), "")
  for (const kind of process.getuid?.() === 0 ? (["root", "user"] as const) : (["user"] as const)) {
    const [program = "", ...args] = launcher(kind, [[shown, hidden]])
    try {
      await promisify(execFile)(program, [...args, "test", "-e", join(hidden, "mark")], { env: { ...env } })
      return kind
    } catch {
      // No such programs, no such namespaces, or no right to them.
    }
  }
  return undefined
}

function launcher(kind: Kind, pairs: readonly (readonly [string, string])[]): string[] {
  const isRoot = kind === "root"
  const ids = [`--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`]
  const outer = isRoot ? ["unshare", "--mount", "--"] : ["unshare", "--user", "--map-root-user", "--mount", "--"]
  const inner = isRoot ? [] : ["unshare", "--user", ...ids, "--"]
  return [...outer, "/bin/sh", "-c", script, "sh", ...pairs.flat(), "--", ...inner]
}

async function findFolder(path: string): Promise<string | undefined> {
  return await realpath(path).catch(() => undefined) // it need not be there any more
}
