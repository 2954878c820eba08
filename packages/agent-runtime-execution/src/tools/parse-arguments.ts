/** Arguments as a model gives them → checked by the tool's own JSON schema (the small part of it that tools use). */
import { KeepupError } from "@ku0/agent-runtime-core"

export interface ArgumentSchema {
  readonly type: "object" | "array" | "string" | "integer" | "boolean"
  readonly description?: string
  readonly properties?: Readonly<Record<string, ArgumentSchema>>
  readonly required?: readonly string[]
  readonly items?: ArgumentSchema
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
}

/** Checks arguments, or throws `INVALID_INPUT` that says what is wrong and where. Keys the schema does not know pass. */
export function parseArguments<Arguments>(schema: ArgumentSchema, value: unknown): Arguments {
  const problems = check(schema, value ?? {}, "")
  if (problems.length === 0) return (value ?? {}) as Arguments
  throw new KeepupError("INVALID_INPUT", `The arguments do not fit: ${problems.slice(0, 5).join("; ")}.`, {
    hint: "Look at the tool's parameters and call it again.",
  })
}

/** The schema as a plain object, for `Tool.parameters`. */
export function toParameters(schema: ArgumentSchema): Readonly<Record<string, unknown>> {
  return { ...schema }
}

function check(schema: ArgumentSchema, value: unknown, place: string): string[] {
  const at = place === "" ? "the arguments" : place
  if (!hasType(schema.type, value)) return [`${at} must be ${article(schema.type)}`]
  if (schema.enum !== undefined && !schema.enum.includes(value as string)) {
    return [`${at} must be one of ${schema.enum.join(", ")}`]
  }
  if (schema.minimum !== undefined && (value as number) < schema.minimum)
    return [`${at} must be ${schema.minimum} or more`]
  if (schema.maximum !== undefined && (value as number) > schema.maximum)
    return [`${at} must be ${schema.maximum} or less`]
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return [`${at} must have ${schema.minItems} or more items`]
    const { items } = schema
    return items === undefined ? [] : value.flatMap((item, index) => check(items, item, `${place}[${index}]`))
  }
  return schema.type === "object" ? checkProperties(schema, value as Record<string, unknown>, place) : []
}

function checkProperties(schema: ArgumentSchema, value: Record<string, unknown>, place: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const inner = place === "" ? key : `${place}.${key}`
    if (value[key] !== undefined && value[key] !== null) return check(part, value[key], inner)
    return schema.required?.includes(key) === true ? [`${inner} is missing`] : []
  })
}

function hasType(type: ArgumentSchema["type"], value: unknown): boolean {
  if (type === "array") return Array.isArray(value)
  if (type === "integer") return Number.isSafeInteger(value)
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value)
  return typeof value === type
}

function article(type: string): string {
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`
}
