/** Any value as it may stand in an error message: short, on one line, never throwing. */
export function describeValue(value: unknown): string {
  const text = toText(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

function toText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return typeof value === "object" ? "an object" : String(value)
  }
}
