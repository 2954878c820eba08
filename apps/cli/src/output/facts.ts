/** Names and values under one another; a value that is too long goes on under itself. */
import { pad, type Styles, textWidth, wrap } from "./text.js"

export type Fact = readonly [name: string, value: string]

export function renderFacts(facts: readonly Fact[], width: number, styles: Styles, indent = "  "): string {
  const names = Math.max(...facts.map(([name]) => textWidth(name)))
  const left = indent.length + names + 2
  return facts
    .map(([name, value]) => {
      const lines = value.split("\n").flatMap((line) => wrap(line, Math.max(20, width - left)).split("\n"))
      return `${indent}${styles.dim(pad(name, names))}  ${lines.join(`\n${" ".repeat(left)}`)}`
    })
    .join("\n")
}
