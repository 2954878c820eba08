/** Takes secrets out of JSON values: by the names of fields and by what the strings hold. */
import { redactKnownSecrets, redactSecrets } from "./redact.js"
import { redactedMark } from "./secrets/detector.js"
import { kindOfName, type NameKind } from "./secrets/names.js"
import { isSecretField } from "./secrets/values.js"

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

export interface RedactedValue {
  readonly value: JsonValue
  /** How many secrets were replaced. */
  readonly count: number
}

/** What is nested deeper is not looked at but replaced. */
const deepest = 500

/**
 * Replaces the secrets in a JSON value by `[REDACTED]`: strings under names such as `password` or `apiKey`, and
 * secrets within any string. Ids and hashes stay. A part without secrets is handed back as it is, not copied.
 */
export function redactValue(value: JsonValue): RedactedValue {
  let count = 0

  function visit(value: JsonValue, kind: NameKind, depth: number): JsonValue {
    if (typeof value === "string") return visitText(value, kind)
    if (typeof value === "number") return kind === "password" ? replaced() : value
    if (typeof value !== "object" || value === null) return value
    if (depth > deepest) return replaced()
    return isList(value) ? visitList(value, kind, depth) : visitFields(value, depth)
  }

  function visitText(text: string, kind: NameKind): string {
    if (isSecretKind(kind) && isSecretField(kind, text)) return replaced()
    const redacted = kind === "reference" ? redactKnownSecrets(text) : redactSecrets(text)
    count += redacted.count
    return redacted.text
  }

  function visitList(list: readonly JsonValue[], kind: NameKind, depth: number): JsonValue {
    const result = list.map((item) => visit(item, kind, depth + 1))
    return result.every((item, index) => item === list[index]) ? list : result
  }

  function visitFields(fields: { readonly [name: string]: JsonValue }, depth: number): JsonValue {
    let isChanged = false
    const taken = new Set<string>()
    const result = Object.entries(fields).map(([name, field]): [string, JsonValue] => {
      const newName = freeName(visitText(name, "reference"), taken)
      const newField = visit(field, kindOfField(name, fields), depth + 1)
      isChanged ||= newName !== name || newField !== field
      return [newName, newField]
    })
    return isChanged ? Object.fromEntries(result) : fields
  }

  function replaced(): string {
    count++
    return redactedMark
  }

  const result = visit(value, "plain", 0)
  return { value: result, count }
}

/** The kind of a field by its own name; a field `value` goes by the `name` or `key` beside it. */
function kindOfField(name: string, fields: { readonly [name: string]: JsonValue }): NameKind {
  if (name.toLowerCase() !== "value") return kindOfName(name)
  const beside = fields.name ?? fields.key ?? fields.Name ?? fields.Key
  return typeof beside === "string" ? kindOfName(beside) : "plain"
}

function isSecretKind(kind: NameKind): boolean {
  return kind !== "plain" && kind !== "reference"
}

/** Two names with secrets in them must not become one. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name} ${number}`
  taken.add(free)
  return free
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}
