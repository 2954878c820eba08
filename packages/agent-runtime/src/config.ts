/**
 * Settings: flags > KEEPUP_* > `.keepup/config.json` in the workspace > the user's file > defaults, resolved once.
 * Pure: apps hand in what they read. Every key is in the table below, with what it accepts.
 */
import { KeepupError } from "@ku0/agent-runtime-core"
import type { ApprovalRule } from "@ku0/agent-runtime-execution"

export interface Config {
  readonly storage: "user" | "project"
  readonly "checkpoint.on": readonly string[]
  /** Milliseconds between automatic saves. */
  readonly "checkpoint.interval": number
  readonly "checkpoint.retention": number
  readonly "capture.include": readonly string[]
  /** Bytes. */
  readonly "capture.maxFileSize": number
  /** Where to keep the handoff section; `""` is off. */
  readonly "handoff.path": string
  /** `provider/name`. */
  readonly model: string
  readonly approval: "ask" | "auto" | "deny"
  /** `DECISION TOOL [PATH]` each, for example `deny * secrets/**`; the first that fits counts. */
  readonly "approval.rules": readonly string[]
}

export type ConfigKey = keyof Config
export type ConfigSource = "flag" | "environment" | "workspace" | "user" | "default"

export interface ConfigSetting {
  readonly key: ConfigKey
  readonly value: unknown
  readonly source: ConfigSource
  readonly description: string
}

export interface ResolveConfigOptions {
  readonly flags?: Readonly<Record<string, unknown>>
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Parsed JSON of `.keepup/config.json`. */
  readonly workspaceFile?: unknown
  /** Parsed JSON of the user's file. */
  readonly userFile?: unknown
}

export interface ResolvedConfig {
  readonly config: Config
  readonly settings: readonly ConfigSetting[]
}

interface Rule {
  readonly fallback: unknown
  readonly description: string
  /** Accepts a JSON value, or text from a flag, a variable or `config set`. `undefined` if it is neither. */
  readonly parse: (value: unknown) => unknown
}

const megabyte = 1_048_576

export const configRules: Readonly<Record<ConfigKey, Rule>> = {
  storage: {
    fallback: "user",
    description: "where the database lies: user or project",
    parse: oneOf("user", "project"),
  },
  "checkpoint.on": {
    fallback: ["run.ended", "negotiation.resolved", "phase.ended", "turn.ended", "task.completed", "agent.spawned"],
    description: "events that make a checkpoint",
    parse: list,
  },
  "checkpoint.interval": { fallback: 30_000, description: "milliseconds between automatic saves", parse: duration },
  "checkpoint.retention": { fallback: 10, description: "automatic checkpoints a session keeps", parse: count },
  "capture.include": { fallback: [], description: "ignored files to capture all the same", parse: list },
  "capture.maxFileSize": { fallback: 50 * megabyte, description: "larger files are not captured", parse: size },
  "handoff.path": { fallback: "", description: "file that gets the handoff section; empty is off", parse: text },
  model: { fallback: "", description: "model of the built-in agent, provider/name", parse: text },
  approval: {
    fallback: "ask",
    description: "what a tool with effects needs: ask, auto, deny",
    parse: oneOf("ask", "auto", "deny"),
  },
  "approval.rules": {
    fallback: [],
    description: "exceptions, each DECISION TOOL [PATH], such as: deny * secrets/**",
    parse: rules,
  },
}

export const configKeys = Object.keys(configRules) as ConfigKey[]

export function resolveConfig(options: ResolveConfigOptions = {}): ResolvedConfig {
  const workspace = flatten(options.workspaceFile, "the workspace's config.json")
  const user = flatten(options.userFile, "the user's config.json")
  const settings = configKeys.map((key): ConfigSetting => {
    const candidates: [ConfigSource, unknown][] = [
      ["flag", options.flags?.[key]],
      ["environment", options.environment?.[environmentName(key)]],
      ["workspace", workspace.get(key)],
      ["user", user.get(key)],
      ["default", configRules[key].fallback],
    ]
    const [source, value] = candidates.find(([, candidate]) => candidate !== undefined) as [ConfigSource, unknown]
    return { key, value: parseConfigValue(key, value), source, description: configRules[key].description }
  })
  const config = Object.freeze(Object.fromEntries(settings.map(({ key, value }) => [key, value]))) as unknown as Config
  return { config, settings }
}

/** `checkpoint.maxFileSize` → `KEEPUP_CHECKPOINT_MAX_FILE_SIZE`. */
export function environmentName(key: ConfigKey): string {
  return `KEEPUP_${key.replace(/[A-Z]/g, "_$&").replaceAll(".", "_").toUpperCase()}`
}

/** Accepts a value for a key, or throws `INVALID_INPUT` with what would be accepted. */
export function parseConfigValue(key: string, value: unknown): unknown {
  const rule = (configRules as Readonly<Record<string, Rule | undefined>>)[key]
  if (rule === undefined || !Object.hasOwn(configRules, key)) {
    throw new KeepupError("INVALID_INPUT", `There is no setting ${JSON.stringify(key)}.`, {
      hint: `Settings are: ${configKeys.join(", ")}.`,
    })
  }
  const parsed = rule.parse(value)
  if (parsed !== undefined) return parsed
  throw new KeepupError("INVALID_INPUT", `${JSON.stringify(value)} is not a value for ${key} (${rule.description}).`)
}

/** `{"checkpoint": {"retention": 5}}` and `{"checkpoint.retention": 5}` are the same. */
function flatten(file: unknown, what: string): Map<string, unknown> {
  const flat = new Map<string, unknown>()
  if (file === undefined || file === null) return flat
  const walk = (value: object, prefix: string) => {
    for (const [name, inner] of Object.entries(value)) {
      const key = prefix + name
      if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) walk(inner, `${key}.`)
      else flat.set(key, inner)
    }
  }
  if (typeof file !== "object" || Array.isArray(file))
    throw new KeepupError("INVALID_INPUT", `What is in ${what} must be an object.`)
  walk(file, "")
  for (const key of flat.keys()) parseConfigValue(key, flat.get(key))
  return flat
}

function oneOf(...words: readonly string[]) {
  return (value: unknown) => (words.includes(value as string) ? value : undefined)
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}

function list(value: unknown): readonly string[] | undefined {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string") ? value : undefined
  if (typeof value !== "string") return undefined
  return value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "")
}

function rules(value: unknown): readonly string[] | undefined {
  const words = list(value)
  return words?.every((rule) => findRule(rule) !== undefined) === true ? words : undefined
}

/** `deny write_file docs/**` → a rule; the path may be left out. */
function findRule(text: string): ApprovalRule | undefined {
  const [, decision, tool, path] = /^(ask|auto|deny)\s+(\S+)(?:\s+(.*\S))?\s*$/.exec(text) ?? []
  if (decision === undefined || tool === undefined) return undefined
  return { decision: decision as ApprovalRule["decision"], tool, ...(path === undefined ? {} : { path }) }
}

/** The rules of the setting, as the agent takes them. */
export function approvalRules(config: Pick<Config, "approval.rules">): ApprovalRule[] {
  return config["approval.rules"].flatMap((text) => findRule(text) ?? [])
}

function count(value: unknown): number | undefined {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/** `30s`, `5m`, or milliseconds. */
function duration(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(\d+)(ms|s|m|h|d)$/.exec(value.trim()) : null
  if (match === null) return count(value)
  const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[match[2] as "ms" | "s" | "m" | "h" | "d"]
  return Number(match[1]) * unit
}

/** `50MB`, `512KB`, or bytes. */
function size(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(\d+)\s*(KB|MB|GB)$/i.exec(value.trim()) : null
  if (match === null) return count(value)
  const unit = { KB: 1024, MB: megabyte, GB: 1024 * megabyte }[(match[2] as string).toUpperCase() as "KB" | "MB" | "GB"]
  return Number(match[1]) * unit
}

/** Reads `500MB`, `512KB`, `2GB` or bytes, or throws `INVALID_INPUT`. */
export function parseSize(value: string): number {
  const parsed = size(value)
  if (parsed !== undefined) return parsed
  throw new KeepupError("INVALID_INPUT", `Not a size: ${JSON.stringify(value)}.`, {
    hint: "Write 500MB, 512KB or 2GB.",
  })
}

/** Reads `30d`, `12h`, `90m`, `45s` or milliseconds, or throws `INVALID_INPUT`. */
export function parseDuration(value: string): number {
  const parsed = duration(value)
  if (parsed !== undefined) return parsed
  throw new KeepupError("INVALID_INPUT", `Not a length of time: ${JSON.stringify(value)}.`, {
    hint: "Write 30d, 12h, 90m or 45s.",
  })
}
