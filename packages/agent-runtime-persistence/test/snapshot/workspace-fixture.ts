/** A throw-away workspace with a home, a state directory and, if asked, the user's own git repository. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type OpenSnapshotStoreOptions,
  openSnapshotStore,
  type SnapshotStore,
} from "../../src/snapshot/snapshot-store.js"

export interface WorkspaceFixture {
  readonly folder: string
  readonly root: string
  readonly home: string
  readonly state: string
  open(options?: Partial<OpenSnapshotStoreOptions>): Promise<SnapshotStore>
  /** Paths are bytes: one character each. */
  write(path: string, content: string | Buffer, mode?: number): void
  link(path: string, target: string): void
  folderAt(path: string): void
  remove(path: string): void
  read(path: string): string
  exists(path: string): boolean
  /** The user's own git. */
  git(...args: string[]): string
  /** Everything in the workspace: path → kind, mode (executable, private) and content. `.git` folders are left out unless asked for. */
  picture(options?: { git?: boolean }): Map<string, string>
  close(): Promise<void>
}

export function makeWorkspace(options: { git?: boolean; name?: string } = {}): WorkspaceFixture {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keepup-snapshot-")))
  const root = join(folder, options.name ?? "work")
  const home = join(folder, "home")
  const state = join(folder, "state")
  for (const path of [root, home, state]) mkdirSync(path)
  const stores: SnapshotStore[] = []
  const bytes = (path: string) => Buffer.from(`${Buffer.from(root).toString("latin1")}/${path}`, "latin1")
  const makeParents = (path: string) => {
    const slash = path.lastIndexOf("/")
    if (slash > 0) mkdirSync(bytes(path.slice(0, slash)), { recursive: true })
  }
  const fixture: WorkspaceFixture = {
    folder,
    root,
    home,
    state,
    async open(extra = {}) {
      const store = await openSnapshotStore({
        workspacePath: root,
        stateDirectory: state,
        homeDirectory: home,
        environment: { PATH: process.env.PATH },
        clock: { now: () => Date.now() },
        ...extra,
      })
      stores.push(store)
      return store
    },
    write(path, content, mode) {
      makeParents(path)
      writeFileSync(bytes(path), content)
      if (mode !== undefined) chmodSync(bytes(path), mode)
    },
    link(path, target) {
      makeParents(path)
      symlinkSync(Buffer.from(target, "latin1"), bytes(path))
    },
    folderAt: (path) => void mkdirSync(bytes(path), { recursive: true }),
    remove: (path) => rmSync(bytes(path), { recursive: true, force: true }),
    read: (path) => readFileSync(bytes(path), "latin1"),
    exists: (path) => lstatSync(bytes(path), { throwIfNoEntry: false }) !== undefined,
    git: (...args) => runUserGit(root, home, args),
    picture: (pictureOptions = {}) => takePicture(root, pictureOptions.git === true),
    async close() {
      for (const store of stores) await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  if (options.git) {
    fixture.git("init", "-q", "-b", "main")
    fixture.git("config", "user.name", "someone")
    fixture.git("config", "user.email", "someone@localhost")
  }
  return fixture
}

export function runUserGit(cwd: string, home: string, args: string[]): string {
  return execFileSync("git", args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 1 << 28,
  })
}

/** What plain git says of a store; empty when it is sound. */
export function fsck(directory: string): string {
  const out = execFileSync("git", ["--git-dir", directory, "fsck", "--full", "--strict", "--no-dangling"], {
    env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  })
  return out.trim()
}

export function takePicture(root: string, withGit: boolean): Map<string, string> {
  const picture = new Map<string, string>()
  const walk = (folder: Buffer, path: string) => {
    for (const name of readdirSync(folder, { encoding: "latin1" })) {
      if (name === ".git" && !withGit) continue
      const inner = Buffer.concat([folder, Buffer.from(`/${name}`, "latin1")])
      const innerPath = path === "" ? name : `${path}/${name}`
      const stat = lstatSync(inner)
      if (stat.isDirectory()) {
        picture.set(innerPath, "folder")
        walk(inner, innerPath)
      } else if (stat.isSymbolicLink()) picture.set(innerPath, `link ${readlinkSync(inner, "latin1")}`)
      else if (stat.isFile()) {
        const isPrivate = (stat.mode & 0o077) === 0
        const mode = `${(stat.mode & 0o100) === 0 ? "-" : "x"}${isPrivate ? "p" : ""}`
        picture.set(innerPath, `file ${mode} ${readFileSync(inner, "latin1")}`)
      } else picture.set(innerPath, "special")
    }
  }
  walk(Buffer.from(root), "")
  return new Map([...picture].sort(([a], [b]) => (a < b ? -1 : 1)))
}
