/** `session import`: takes an exported session in, under new ids, all or nothing. */
import { closeSync, constants, openSync, readSync } from "node:fs"
import { join, resolve } from "node:path"
import { importOldSessions, importSession, KeepupError, type Session, sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { oneLine, plural } from "../../output/text.js"
import { jsonExportHead, withCompressed } from "./json-export.js"

export const importCommand: Command = {
  summary: "take an exported session in",
  description: [
    "The whole file is proven before anything is kept. The session gets a new id and belongs to this workspace; the files of the " +
      "workspace are not touched: look at its checkpoints, then restore one. A sessions.json of older agents is taken in too.",
  ],
  arguments: [{ name: "FILE", summary: "what `keepup session export` wrote", completes: "file" }],
  examples: [{ command: "keepup session import work.keepup", does: "Go on with work of another machine" }],
  exits: ["NOT_FOUND", "CORRUPT"],
  async run(context, input) {
    const path = resolve(context.machine.currentDirectory, input.argument("FILE"))
    const head = readHead(path)
    // an export of ours is compressed, or says what it is; the list of an older agent is plain JSON
    const isJson = head.startsWith(jsonExportHead)
    const isOld = !isJson && /^\s*[[{]/.test(head)
    const runtime = await context.openRuntime()
    const { workspacePath, stateDirectory } = context
    const onProgress = (done: number, total: number) =>
      done < total
        ? context.progress.report("Proving the file, bytes", done, total)
        : context.progress.report("Taking it in", 0, 0)
    const workFolder = join(stateDirectory, "import")
    const { signal } = context
    const takeIn = async (file: string) => [
      (await importSession(runtime, { path: file, workspacePath, workFolder, onProgress, signal })).session,
    ]
    const sessions = await context.uninterrupted<readonly Session[]>(
      async () => {
        if (isOld) return await importOldSessions(runtime.store, { path, workspacePath })
        return await (isJson ? withCompressed(path, workFolder, takeIn) : takeIn(path))
      },
      { finishing: "The import", stopped: "Stopped; nothing was taken in." },
    )
    const [first] = sessions
    context.answer(
      {
        ...(sessions.length === 1 && first && { session: sessionToJson(first) }),
        sessions: sessions.map(sessionToJson),
      },
      () =>
        sessions
          .map(
            (session) =>
              `"${oneLine(session.name)}" is session ${shortId(session.id)}: ${plural(session.messageCount, "message")}, ` +
              `${plural(session.checkpointCount, "checkpoint")}.\nLook: keepup checkpoint list -S ${shortId(session.id)}`,
          )
          .join("\n"),
    )
  },
}

function readHead(path: string): string {
  try {
    // a pipe is not waited for: it is refused like anything that is no file
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const head = Buffer.alloc(64)
      const size = readSync(file, head)
      return head.subarray(0, size).toString("utf8")
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === "ENOENT") throw new KeepupError("NOT_FOUND", `There is no file ${path}.`, { cause })
    throw new KeepupError("INVALID_INPUT", `${path} can't be read: ${message}.`, { cause })
  }
}
