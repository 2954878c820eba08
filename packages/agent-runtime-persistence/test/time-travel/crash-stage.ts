/**
 * A place to go back in and be killed in: a workspace with all kinds of files, a session with two checkpoints, and a
 * way to set all of it up again for the next kill, under the same path.
 */

import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Session } from "@ku0/agent-runtime-core"
import { user } from "../../src/testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../../src/testing/time-travel-fixture.js"
import { takePicture } from "../../src/testing/workspace-picture.js"

export interface Stage {
  readonly root: string
  readonly workspace: string
  /** Puts everything back as it was when the stage was made. */
  reset(): void
  /** Makes what is there now what `reset` puts back. */
  keep(): void
  remove(): void
}

/** What must be either as before or as after: files and conversations, and nothing in between. */
export interface Scene {
  readonly files: Record<string, string>
  readonly sessions: readonly {
    readonly name: string
    readonly messages: readonly unknown[]
    readonly state: Record<string, unknown>
  }[]
}

export async function makeStage(): Promise<Stage> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "keepup-crash-")))
  const root = join(folder, "root")
  const copy = join(folder, "copy")
  mkdirSync(root)
  const travel = await openFixture({ root })
  await tellHistory(travel)
  await travel.close()
  const stage: Stage = {
    root,
    workspace: join(root, "workspace"),
    reset() {
      rmSync(root, { recursive: true, force: true })
      execFileSync("cp", ["-a", copy, root])
    },
    keep() {
      rmSync(copy, { recursive: true, force: true })
      execFileSync("cp", ["-a", root, copy])
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
  stage.keep()
  return stage
}

/** Everything that counts, as one value. */
export async function describeScene(travel: TimeTravelFixture): Promise<Scene> {
  const sessions: Scene["sessions"][number][] = []
  for (const { id, name } of (await travel.store.sessions.list()).reverse()) {
    const head = await travel.store.log.head(id)
    const { messages } = await travel.store.log.fold(head)
    sessions.push({ name, messages, state: { ...(await travel.store.state.get(head)) } })
  }
  return { files: takePicture(travel.workspace, { without: [".git"] }), sessions }
}

async function tellHistory(travel: TimeTravelFixture): Promise<Session> {
  const { workspace, manager, store } = travel
  travel.git("init", "-q", "-b", "main")
  firstFiles(workspace)
  travel.git("add", "a.txt", ".gitignore", "deep")
  travel.git("commit", "-qm", "the user's own")
  const session = await travel.createSession("work")
  await store.log.append(session.id, [user("first"), user("second")])
  await manager.take({ sessionId: session.id, trigger: "manual", state: { step: 1, plan: ["a"] } })
  writeFileSync(join(workspace, "a.txt"), "in between")
  await store.log.append(session.id, [user("third")])
  await manager.take({ sessionId: session.id, trigger: "turn.ended", state: { step: 2 } })
  secondFiles(workspace)
  await store.log.append(session.id, [user("fourth")])
  await store.state.put(session.id, { step: 3, plan: undefined })
  return session
}

const odd = "odd é\n\t\"'\\ name.txt"
const bytes = (workspace: string, name: string) =>
  Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from(name, "latin1")])
const notUtf8 = "not \xff\xfe utf8.txt"

function firstFiles(workspace: string): void {
  put(workspace, "a.txt", "a1\n")
  put(workspace, ".gitignore", "ignored/\n")
  put(workspace, "ignored/kept.txt", "never touched")
  put(workspace, "exec.sh", "#!/bin/sh\n", 0o755)
  put(workspace, "becomes-exec", "same content", 0o644)
  put(workspace, "secret.txt", "s1", 0o600)
  put(workspace, "read-only.txt", "r1", 0o444)
  put(workspace, "same.txt", "same")
  put(workspace, "same/deep/file.txt", "same too", 0o640)
  put(workspace, "deep/er/and/deeper/still/file.txt", "deep")
  put(workspace, odd, "odd")
  put(workspace, "-dash", "dash")
  put(workspace, "file-to-dir", "was a file")
  put(workspace, "dir-to-file/inner/x.txt", "was in a folder")
  put(workspace, "emptied/x.txt", "x")
  put(workspace, "big.bin", Buffer.alloc(300_000, 7))
  mkdirSync(join(workspace, "empty/in/empty"), { recursive: true })
  writeFileSync(bytes(workspace, notUtf8), "bytes")
  symlinkSync("a.txt", join(workspace, "link"))
  symlinkSync("deep", join(workspace, "folder-link"))
  symlinkSync("same.txt", join(workspace, "same-link"))
}

function secondFiles(workspace: string): void {
  const gone = ["deep", "file-to-dir", "dir-to-file", "emptied/x.txt", "empty", "link", "folder-link", "-dash"]
  for (const path of gone) rmSync(join(workspace, path), { recursive: true })
  rmSync(bytes(workspace, notUtf8))
  rmSync(join(workspace, "read-only.txt"))
  put(workspace, "a.txt", "a2, not in any checkpoint\n")
  put(workspace, "exec.sh", "#!/bin/sh\nexit 1\n", 0o644)
  chmodSync(join(workspace, "becomes-exec"), 0o755)
  put(workspace, "secret.txt", "s2", 0o600)
  put(workspace, odd, "odd, changed")
  put(workspace, "file-to-dir/now/inside.txt", "now a folder")
  put(workspace, "dir-to-file", "now a file")
  put(workspace, "big.bin", Buffer.alloc(200_000, 9))
  put(workspace, "new/sub/n.txt", "new")
  put(workspace, "-dash", "moved", 0o755)
  mkdirSync(join(workspace, "new-empty/nested"), { recursive: true })
  mkdirSync(join(workspace, "folder-link"))
  symlinkSync("nowhere at all", join(workspace, "link"))
  symlinkSync("../no-such-place", join(workspace, "new-link"))
  renameSync(join(workspace, "new-link"), join(workspace, "new/link-out"))
}

function put(workspace: string, path: string, content: string | Buffer, mode = 0o644): void {
  const file = join(workspace, path)
  mkdirSync(dirname(file), { recursive: true })
  if (existsSync(file)) chmodSync(file, 0o600)
  writeFileSync(file, content)
  chmodSync(file, mode)
}
