/** The laws of redaction over random texts. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { password, passwordForms, prose, shapedSecrets, unknownKey } from "../test/fake-secrets.js"
import { redactSecrets } from "./redact.js"
import { type JsonValue, redactValue } from "./redact-value.js"

/** Anything, but ending so that what follows is a text of its own. */
const before = fc
  .tuple(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.constantFrom("", " ", "\n", '"', "'", "=", ": ", "(", "\\n", ",", "[32m"),
  )
  .map(([text, end]) => (end === "" ? "" : text + end))
const after = fc
  .tuple(
    fc.constantFrom(" ", "\n", '"', "'", ",", ")", "\\n", ";", "`", "<"),
    fc.string({ unit: "binary", maxLength: 60 }),
  )
  .map((parts) => parts.join(""))

const anySecret = fc.oneof(
  ...Object.values(shapedSecrets),
  ...Object.values(passwordForms).map((form) => password.map(form)),
  unknownKey,
)
const document = fc.array(
  fc.oneof(anySecret, prose, fc.string({ unit: "binary" }), before, fc.constant("[REDACTED]")),
  { maxLength: 8 },
)

describe("redactSecrets, for any text", () => {
  it.each(Object.entries(shapedSecrets))("leaves nothing of a planted %s", (_, secret) => {
    fc.assert(
      fc.property(before, secret, after, (start, planted, end) => {
        const { text, count } = redactSecrets(start + planted + end)
        expect(count).toBeGreaterThan(0)
        expect(text).not.toContain(planted.slice(-20))
      }),
    )
  })

  it.each(Object.entries(passwordForms))("leaves nothing of a password planted as %s", (_, form) => {
    fc.assert(
      fc.property(prose, password, prose, (start, planted, end) => {
        const { text } = redactSecrets(`${start}\n${form(planted)}\n${end}`)
        expect(text).not.toContain(planted)
        expect(text).not.toContain(encodeURIComponent(planted))
      }),
    )
  })

  it("redacts the same once and twice", () => {
    fc.assert(
      fc.property(document, fc.constantFrom("", " ", "\n", "-", "=", '"'), (parts, glue) => {
        const once = redactSecrets(parts.join(glue))
        expect(redactSecrets(once.text)).toEqual({ text: once.text, count: 0 })
      }),
      { numRuns: 1000 },
    )
  })

  it("leaves words, identifiers, hashes and UUIDs as they are", () => {
    fc.assert(
      fc.property(prose, (text) => {
        expect(redactSecrets(text)).toEqual({ text, count: 0 })
      }),
    )
  })

  it("keeps a JSON text a JSON text", () => {
    const value = fc.dictionary(
      fc.string(),
      fc.oneof(anySecret, fc.string({ unit: "binary" }), prose, fc.integer(), fc.array(anySecret)),
    )
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), fc.boolean(), (fields, indent, twice) => {
        const json = JSON.stringify({ ...fields, password: 123456 }, null, indent)
        const { text } = redactSecrets(twice ? JSON.stringify({ output: json }) : json)
        expect(() => JSON.parse(text)).not.toThrow()
      }),
      { numRuns: 500 },
    )
  })
})

describe("redactValue, for any value", () => {
  const value = fc.letrec<{ any: JsonValue }>((tie) => ({
    any: fc.oneof(
      { depthSize: "small" },
      anySecret,
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("any")),
      fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("password", "token", "id", "name", "value")), tie("any")),
    ) as fc.Arbitrary<JsonValue>,
  })).any

  it("gives a value that JSON can hold, of the same shape, and redacts the same once and twice", () => {
    fc.assert(
      fc.property(value, (original) => {
        const once = redactValue(original)
        expect(JSON.parse(JSON.stringify(once.value))).toEqual(JSON.parse(JSON.stringify(once.value)))
        expect(shapeOf(once.value)).toEqual(shapeOf(original))
        expect(redactValue(once.value)).toEqual({ value: once.value, count: 0 })
      }),
      { numRuns: 500 },
    )
  })

  it("leaves nothing of a secret anywhere in a value", () => {
    const shaped = fc.oneof(...Object.values(shapedSecrets))
    fc.assert(
      fc.property(shaped, fc.string(), fc.string(), (planted, name, text) => {
        const { value } = redactValue({ [name]: [{ deep: `${text} ${planted}` }], [`${name} ${planted}`]: 1 })
        expect(JSON.stringify(value)).not.toContain(planted.slice(-20))
      }),
    )
  })
})

/** Lists and objects stay what they are, with as many items. */
function shapeOf(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === "object" && value !== null) return Object.values(value).map(shapeOf)
  return "leaf"
}
