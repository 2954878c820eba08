/**
 * Whether a write-ahead log of SQLite is as it was written: SQLite takes one that was cut or changed for one that ends
 * earlier, and says nothing.
 */

const headerBytes = 32
const frameHeaderBytes = 24

export interface LogJudgement {
  /** `cut`: half a frame follows the last whole one. `damaged`: a whole transaction lies behind a frame that is not. */
  readonly end: "whole" | "cut" | "damaged"
  /** Transactions that can be read. */
  readonly commits: number
}

export function judgeLog(log: Buffer): LogJudgement {
  let commits = 0
  const judged = (end: LogJudgement["end"]) => ({ end, commits })
  if (log.length === 0) return judged("whole")
  if (log.length < headerBytes) return judged("cut")
  const magic = log.readUInt32BE(0)
  const isBigEndian = magic === 0x377f0683
  if (!isBigEndian && magic !== 0x377f0682) return judged("damaged")
  const frameBytes = frameHeaderBytes + log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  let sums = addUp(log, 0, 24, [0, 0], isBigEndian)
  if (log.readUInt32BE(24) !== sums[0] || log.readUInt32BE(28) !== sums[1]) return judged("damaged")
  let at = headerBytes
  for (; at + frameBytes <= log.length; at += frameBytes) {
    if (!salts.equals(log.subarray(at + 8, at + 16))) break
    sums = addUp(log, at, at + 8, sums, isBigEndian)
    sums = addUp(log, at + frameHeaderBytes, at + frameBytes, sums, isBigEndian)
    if (log.readUInt32BE(at + 16) !== sums[0] || log.readUInt32BE(at + 20) !== sums[1]) break
    if (isCommit(log, at)) commits++
  }
  if (at + frameBytes > log.length) return judged(at === log.length ? "whole" : "cut")
  for (at += frameBytes; at + frameBytes <= log.length; at += frameBytes) {
    if (isCommit(log, at) && salts.equals(log.subarray(at + 8, at + 16))) return judged("damaged")
  }
  return judged("whole")
}

/** Whether the frame there ends a transaction. */
function isCommit(log: Buffer, at: number): boolean {
  return log.readUInt32BE(at + 4) !== 0
}

/** The checksum of SQLite's log, carried on from `sums`. */
function addUp(log: Buffer, from: number, to: number, sums: [number, number], isBigEndian: boolean): [number, number] {
  let [first, second] = sums
  for (let at = from; at < to; at += 8) {
    first = (first + (isBigEndian ? log.readUInt32BE(at) : log.readUInt32LE(at)) + second) >>> 0
    second = (second + (isBigEndian ? log.readUInt32BE(at + 4) : log.readUInt32LE(at + 4)) + first) >>> 0
  }
  return [first, second]
}
