/** What every model adapter takes. Nothing is read from the process: the environment is handed in. */
import { KeepupError } from "@ku0/agent-runtime-core"

/** Prices for a million tokens, in one currency of the caller's choice. keepup has no price list of its own. */
export interface ModelPrices {
  readonly input: number
  readonly output: number
  /** Input read from the service's cache; without it, the price of input. */
  readonly cacheRead?: number
  /** Input written to the service's cache; without it, the price of input. */
  readonly cacheWrite?: number
}

export interface CreateModelOptions {
  /** Where keys and addresses are looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Address of the service; requests go to this origin only. */
  readonly baseUrl?: string
  /** Without it, the global one. */
  readonly fetch?: typeof globalThis.fetch
  /** Without it, answers carry tokens and no cost. */
  readonly prices?: ModelPrices
  readonly maxOutputTokens?: number
  /** What the model takes in at most, in tokens; what is usual at the service unless told. */
  readonly windowTokens?: number
  /** How long the service may send nothing at all; five minutes unless told. */
  readonly idleTimeoutMs?: number
}

/** The first variable that is set, or UNAUTHORIZED with what to set. */
export function requireKey(
  model: string,
  environment: CreateModelOptions["environment"],
  variables: readonly string[],
) {
  const key = findValue(environment, variables)
  if (key !== undefined) return key
  throw new KeepupError("UNAUTHORIZED", `No key for ${model}.`, {
    hint: `Set ${variables.join(" or ")}.`,
    details: { retryable: false, variables },
  })
}

export function findValue(environment: CreateModelOptions["environment"], variables: readonly string[]) {
  return variables.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== "")
}

/**
 * An address without a slash at the end. `complete` says what the service's paths start with, for addresses given
 * without it.
 */
export function parseBaseUrl(given: string, complete: (path: string) => string): string {
  let url: URL
  try {
    url = new URL(given)
  } catch (cause) {
    throw badAddress("it is not a URL", cause)
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw badAddress(`${url.protocol} is not HTTP`)
  if (url.username !== "" || url.password !== "") throw badAddress("it holds a name or a password")
  if (url.search !== "" || url.hash !== "") throw badAddress("it has a query or a fragment")
  return `${url.origin}${complete(url.pathname.replace(/\/+$/, ""))}`
}

/** "" → "/v1"; any other path is taken as it is. */
export function versionIfBare(version: string): (path: string) => string {
  return (path) => (path === "" ? version : path)
}

/** Appends the version unless the path ends with one. */
export function versionAtEnd(version: string): (path: string) => string {
  return (path) => (/\/v\d+[a-z0-9]*$/.test(path) ? path : `${path}${version}`)
}

function badAddress(why: string, cause?: unknown): KeepupError {
  return new KeepupError("INVALID_INPUT", `The address of the model service can't be used: ${why}.`, {
    hint: "Give it like http://127.0.0.1:11434/v1; keys belong in the environment.",
    ...(cause === undefined ? {} : { cause }),
  })
}
