/** The built page, read once at the start: only what was there then is ever served, so no address can reach another file. */
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, extname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { pageHeaders } from "./guard-request.js"

export interface PageFiles {
  /** The answer for an address, or `undefined` if the page has no such file. */
  find(path: string, ifNoneMatch: string | undefined): Response | undefined
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json",
}

export function readPageFiles(folder: string | undefined): PageFiles {
  const files = new Map<string, { body: Uint8Array<ArrayBuffer>; headers: Record<string, string>; tag: string }>()
  const items = folder === undefined ? [] : readdirSync(folder, { recursive: true, withFileTypes: true })
  for (const item of items) {
    const type = types[extname(item.name)]
    if (!item.isFile() || type === undefined) continue
    const path = join(item.parentPath, item.name)
    const name = relative(folder as string, path)
      .split(sep)
      .join("/")
    const body = new Uint8Array(readFileSync(path))
    const tag = `"${createHash("sha256").update(body).digest("base64url")}"`
    // what vite names by content never changes; the rest is asked for again
    const cache = /^assets\/.+-[\w-]{8}\.\w+$/.test(name) ? "public, max-age=31536000, immutable" : "no-cache"
    files.set(name, { body, tag, headers: { ...pageHeaders, "Content-Type": type, "Cache-Control": cache, ETag: tag } })
  }
  return {
    find(path, ifNoneMatch) {
      const file = files.get(path === "/" ? "index.html" : path.slice(1))
      if (file !== undefined) {
        if (ifNoneMatch === file.tag) return new Response(null, { status: 304, headers: file.headers })
        return new Response(file.body, { headers: file.headers })
      }
      if (path !== "/") return undefined
      const text = "The page is not built: run `pnpm build`. The routes under /api answer all the same.\n"
      return new Response(text, { status: 503, headers: { ...pageHeaders, "Content-Type": "text/plain" } })
    },
  }
}

/** Where the build puts the page: beside the bundle, or in `dist` when the sources or the package run. */
export function findPageFolder(): string | undefined {
  const here = import.meta.url
  const folder = dirname(here.startsWith("file:") ? fileURLToPath(here) : here)
  return ["page", "../page", "../../dist/page"]
    .map((place) => join(folder, place))
    .find((place) => existsSync(join(place, "index.html")))
}
