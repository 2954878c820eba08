/** Files as of a checkpoint, what changed since, and artifacts. Contents come from the snapshot's objects; no path is opened. */
import { isUtf8 } from "node:buffer"
import {
  type Checkpoint,
  changeToJson,
  KeepupError,
  patchBetween,
  type Runtime,
  readCheckpointFile,
} from "@ku0/agent-runtime"
import * as api from "../../api.js"
import { contentHeaders } from "../guard-request.js"
import { listFolder } from "../list-folder.js"
import type { Looks } from "../looks.js"
import { getCheckpoint, getSession, requireInside } from "../references.js"
import { type AnyRoute, route } from "../route.js"
import { artifactToJson } from "../shapes.js"

const mostPatch = 1 << 20
/** Types a browser may show by itself; SVG is not among them, it can hold a script. */
const images: readonly [type: string, start: string][] = [
  ["image/png", "89504e47"],
  ["image/jpeg", "ffd8ff"],
  ["image/gif", "47494638"],
]

export function fileRoutes(runtime: Runtime, looks: Looks): AnyRoute[] {
  const { store } = runtime

  async function find(params: { readonly sid: string; readonly cid: string }, to?: string) {
    const session = await getSession(runtime, params.sid)
    const checkpoint = await getCheckpoint(runtime, session, params.cid)
    const target: Checkpoint | "workspace" =
      to === undefined ? "workspace" : await getCheckpoint(runtime, session, to, true)
    if (target !== "workspace" && target.sessionId !== session.id) {
      const other = await store.sessions.get(target.sessionId)
      if (other.workspacePath !== session.workspacePath) {
        throw new KeepupError("INVALID_INPUT", "The two checkpoints are of different workspaces.")
      }
    }
    return { checkpoint, target }
  }

  const diff = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints/{cid}/diff",
    summary: "files that changed from the checkpoint to another one or to now",
    params: api.checkpointParamsSchema,
    query: api.diffQuerySchema,
    answer: api.diffListSchema,
    async handle({ params, query }) {
      const { checkpoint, target } = await find(params, query.to)
      const { id, changes } = await looks.diff(checkpoint, target, query.look)
      const word = query.q?.toLowerCase() ?? ""
      const found = changes.filter(({ path, from }) => `${path}\n${from ?? ""}`.toLowerCase().includes(word))
      const sum = (key: "insertions" | "deletions") => found.reduce((total, one) => total + one[key], 0)
      const offset = query.offset ?? 0
      return {
        files: found.slice(offset, offset + (query.limit ?? 500)).map(changeToJson),
        ...{ total: found.length, insertions: sum("insertions"), deletions: sum("deletions"), look: id },
      }
    },
  })

  const diffFile = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints/{cid}/diff/{path}",
    summary: "what changed in one file, as a patch",
    params: api.checkpointParamsSchema.extend({ path: api.filePathSchema }),
    query: api.diffFileQuerySchema,
    answer: api.diffFileSchema,
    async handle({ params, query }) {
      const path = requireInside(params.path)
      const paths = query.from === undefined ? [path] : [path, requireInside(query.from)]
      const { checkpoint, target } = await find(params, query.to)
      const patch = await patchBetween(runtime, checkpoint, target, paths)
      if (patch.length <= mostPatch) return { path, patch: patch.toString("utf8"), isCut: false }
      const end = patch.lastIndexOf("\n", mostPatch) + 1
      return { path, patch: patch.subarray(0, end).toString("utf8"), isCut: true }
    },
  })

  const files = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints/{cid}/files",
    summary: "the files as of then",
    params: api.checkpointParamsSchema,
    query: api.filesQuerySchema,
    answer: api.fileListSchema,
    async handle({ params, query }) {
      const session = await getSession(runtime, params.sid)
      const all = await looks.files(await getCheckpoint(runtime, session, params.cid))
      const folder = query.folder === undefined || query.folder === "" ? query.folder : requireInside(query.folder)
      return listFolder(all, { ...query, folder })
    },
  })

  const file = route({
    method: "get",
    path: "/api/sessions/{sid}/checkpoints/{cid}/files/{path}",
    summary: "the bytes of one file as of then",
    params: api.checkpointParamsSchema.extend({ path: api.filePathSchema }),
    async handle({ params }) {
      const path = requireInside(params.path)
      const session = await getSession(runtime, params.sid)
      const checkpoint = await getCheckpoint(runtime, session, params.cid)
      const entry = (await looks.files(checkpoint)).find((one) => one.path === path)
      if (entry === undefined)
        throw new KeepupError("NOT_FOUND", `Checkpoint #${checkpoint.number} has no file ${path}.`)
      const kind = entry.mode === "120000" ? "link" : entry.mode === "100755" ? "program" : "file"
      const bytes = await readCheckpointFile(runtime, checkpoint, path)
      return answerBytes(bytes, { "X-Keepup-Kind": kind })
    },
  })

  const artifact = route({
    method: "get",
    path: "/api/artifacts/{aid}",
    summary: "one artifact's facts",
    params: api.artifactParamsSchema,
    answer: api.artifactAnswerSchema,
    handle: async ({ params }) => ({ artifact: artifactToJson(await store.artifacts.get(params.aid)) }),
  })

  const artifactContent = route({
    method: "get",
    path: "/api/artifacts/{aid}/content",
    summary: "one artifact's content",
    params: api.artifactParamsSchema,
    async handle({ params }) {
      await store.artifacts.get(params.aid)
      return answerBytes(Buffer.from(await store.artifacts.read(params.aid)))
    },
  })

  return [diff, diffFile, files, file, artifact, artifactContent]
}

/** The type comes from the bytes, never from a name: nothing stored can become a page or a script. */
function answerBytes(bytes: Buffer, headers: Readonly<Record<string, string>> = {}): Response {
  const start = bytes.subarray(0, 4).toString("hex")
  const image = images.find(([, begin]) => start.startsWith(begin))?.[0]
  const isText = isUtf8(bytes) && !bytes.includes(0)
  return new Response(new Uint8Array(bytes), {
    headers: {
      ...contentHeaders,
      ...headers,
      "Content-Type": image ?? (isText ? "text/plain; charset=utf-8" : "application/octet-stream"),
      "Content-Disposition": image === undefined && !isText ? "attachment" : "inline",
    },
  })
}
