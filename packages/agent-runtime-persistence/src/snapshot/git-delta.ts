/** Git's differences between two objects: pieces to copy from the base, and new bytes. */

/** What the difference makes of the base, or undefined when it does not fit to it. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer | undefined {
  let at = 0

  function readSize(): number {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = delta[at++] as number
      value += (byte & 127) * factor
      if ((byte & 128) === 0) return value
    }
  }

  /** Bytes of a number that the bits of the command say are there, the smallest first. */
  function readNumber(bits: number, count: number): number {
    let value = 0
    for (let i = 0; i < count; i++) if ((bits & (1 << i)) !== 0) value += (delta[at++] as number) * 256 ** i
    return value
  }

  if (readSize() !== base.length) return undefined
  const made = Buffer.allocUnsafe(readSize())
  let to = 0
  while (at < delta.length) {
    const command = delta[at++] as number
    const isCopy = (command & 128) !== 0
    const from = isCopy ? readNumber(command & 15, 4) : at
    const length = isCopy ? readNumber((command >> 4) & 7, 3) || 0x10000 : command
    const source = isCopy ? base : delta
    if (command === 0 || from + length > source.length || to + length > made.length) return undefined
    source.copy(made, to, from, from + length)
    to += length
    if (!isCopy) at += length
  }
  return to === made.length ? made : undefined
}
