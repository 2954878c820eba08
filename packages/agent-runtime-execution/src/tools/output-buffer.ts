/** Keeps the output of a program up to a limit: from the beginning, and the newest part of what came after. */

export interface Output {
  /** What was kept. */
  readonly bytes: Buffer
  /** How many bytes there were. */
  readonly total: number
}

export interface OutputBuffer {
  add(bytes: Buffer): void
  read(): Output
}

/** Never holds more than about twice `maxBytes`. */
export function createOutputBuffer(maxBytes: number): OutputBuffer {
  const half = Math.ceil(maxBytes / 2)
  const head: Buffer[] = []
  let tail: Buffer[] = []
  let headLength = 0
  let tailLength = 0
  let total = 0

  function shorten(): void {
    const joined = Buffer.concat(tail)
    const kept = joined.subarray(Math.max(0, joined.length - half))
    tail = [Buffer.from(kept)]
    tailLength = kept.length
  }

  return {
    add(bytes) {
      total += bytes.length
      const forHead = bytes.subarray(0, Math.max(0, half - headLength))
      const forTail = bytes.subarray(forHead.length)
      if (forHead.length > 0) head.push(forHead)
      headLength += forHead.length
      if (forTail.length === 0) return
      tail.push(forTail)
      tailLength += forTail.length
      if (tailLength > 2 * half) shorten()
    },
    read() {
      shorten()
      const lost = total - headLength - tailLength
      const gap = lost > 0 ? [Buffer.from(`\n[${lost} bytes are not kept]\n`)] : []
      return { bytes: Buffer.concat([...head, ...gap, ...tail]), total }
    },
  }
}
