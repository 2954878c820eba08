/** A small deterministic random source (mulberry32), so that every run sees the same trees and the same edits. */
export function createRandom(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    pick: (list) => list[Math.floor(next() * list.length)],
    /** Log-normal: most files are small, a few are large. */
    size: (middle, spread, most) => {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
      return Math.max(16, Math.min(most, Math.round(middle * Math.exp(spread * normal))))
    },
  }
}

const words =
  "const let return function async await import export from if else for of new class this value error result index path file name type state open close read write list map filter length push null undefined string number boolean data options context request response handler session message entry head branch".split(
    " ",
  )

/** Text that compresses about as well as source code. */
export function sourceText(random, bytes) {
  const parts = []
  let length = 0
  while (length < bytes) {
    let row = "  ".repeat(random.below(4))
    const count = 3 + random.below(9)
    for (let i = 0; i < count; i++) {
      row +=
        random.below(4) === 0
          ? `${random.pick(words)}${random.below(1000)} `
          : `${random.pick(words)}${random.pick([" ", "(", ") ", " = ", ".", ", "])}`
    }
    row += "\n"
    parts.push(row)
    length += row.length
  }
  return parts.join("").slice(0, bytes)
}
