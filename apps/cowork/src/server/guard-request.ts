/** What a browser may do here: only our own page may ask, under our own name. Other sites and rebound names are refused. */
import { isIP } from "node:net"
import { KeepupError } from "@ku0/agent-runtime"

export interface GuardRequestOptions {
  /** The host the server was told to listen on. */
  readonly host: string
  readonly port: number
}

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

/** On every answer. */
export const commonHeaders: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

export const pageHeaders: Readonly<Record<string, string>> = { "Content-Security-Policy": pagePolicy }

/** What is stored may be anything: a browser that opens it must not run it. */
export const contentHeaders: Readonly<Record<string, string>> = {
  "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "Cache-Control": "no-store",
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host)
}

/** A name that points here only because someone's DNS says so is not ours. */
export function requireOwnHost(header: string | undefined, options: GuardRequestOptions): void {
  const match = /^(\[[0-9a-f:.]+\]|[^:]+)(?::(\d+))?$/i.exec(header ?? "")
  const name = match?.[1]?.toLowerCase() ?? ""
  const port = Number(match?.[2] ?? 80)
  const bare = name.replace(/^\[|\]$/g, "")
  const isEverywhere = options.host === "0.0.0.0" || options.host === "::"
  const isOurs = isLoopback(bare) || bare === options.host.toLowerCase() || (isEverywhere && isIP(bare) !== 0)
  if (isOurs && port === options.port) return
  throw new KeepupError("UNAUTHORIZED", "This server does not answer under that name.", {
    hint: `Use http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${options.port}/`,
    details: { foreign: true },
  })
}

/** A browser tells where a request comes from; a program that is not a browser says nothing. */
export function requireOwnOrigin(header: (name: string) => string | undefined): void {
  const origin = header("origin")
  const site = header("sec-fetch-site")
  const isOwn = origin === undefined || origin === `http://${header("host")}`
  if (isOwn && (site === undefined || site === "same-origin" || site === "none")) return
  throw new KeepupError("UNAUTHORIZED", "Another site may not ask this server.", { details: { foreign: true } })
}
