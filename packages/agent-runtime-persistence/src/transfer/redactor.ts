/** Takes secrets out of what leaves the store. Ids, hashes and the shape of the log stay. */
import type { EventData } from "@ku0/agent-runtime-core"
import { type JsonValue, redactSecrets, redactValue } from "@ku0/agent-runtime-telemetry"
import { canonicalJson } from "../state/canonical-json.js"

export interface Redactor {
  /** How many secrets were replaced so far. */
  readonly count: number
  text(text: string): string
  value<Value>(value: Value): Value
  /** A state key and its value, which may be a secret because of the key's name. */
  state(key: string, json: string): { key: string; json: string }
  /** The change with the keys and hashes that its values leave with. */
  stateChange(
    change: EventData<"state:changed">,
    states: readonly { readonly key: string; readonly hash: string }[],
  ): EventData<"state:changed">
  /** The content of an artifact; what is not text stays as it is. */
  content(bytes: Uint8Array, mediaType: string): Uint8Array
  /** Whether bytes that are no text, and can't be changed without breaking them, hold the shape of a secret. */
  isSecretInBytes(bytes: Uint8Array): boolean
}

export function createRedactor(): Redactor {
  let count = 0

  function text(value: string): string {
    const redacted = redactSecrets(value)
    count += redacted.count
    return redacted.text
  }

  function value<Value>(given: Value): Value {
    const redacted = redactValue(given as JsonValue)
    count += redacted.count
    return redacted.value as Value
  }

  return {
    get count() {
      return count
    },
    text,
    value,
    state(key, json) {
      const [[newKey, newValue] = [key, null]] = Object.entries(value({ [key]: JSON.parse(json) as JsonValue }))
      return { key: newKey, json: canonicalJson(newValue, "redacted state") }
    },
    stateChange: (change, states) => ({
      ...change,
      set: Object.fromEntries(states.map(({ key, hash }) => [key, hash])),
      removed: change.removed.map((key) => Object.keys(value({ [key]: null }))[0] ?? key), // as `state` names it
    }),
    isSecretInBytes(bytes) {
      if (decode(bytes)?.includes("\0") === false) return false
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      // as the value of an id: what is only random is no secret there
      return (["latin1", "utf16le"] as const).some((name) => redactValue({ id: buffer.toString(name) }).count > 0)
    },
    content(bytes, mediaType) {
      const before = decode(bytes)
      return before === undefined ? bytes : Buffer.from(redactDocument(before, mediaType, { text, value }))
    },
  }
}

/** By fields where it is JSON, by the text otherwise. */
function redactDocument(document: string, mediaType: string, { text, value }: Pick<Redactor, "text" | "value">) {
  if (!/json/i.test(mediaType)) return text(document)
  let parsed: unknown
  try {
    parsed = JSON.parse(document)
  } catch {
    return text(document)
  }
  const redacted = value(parsed)
  return redacted === parsed ? document : JSON.stringify(redacted)
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
