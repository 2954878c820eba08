/**
 * What the file system says about a file, as the 40 bytes git's index keeps (hex here): equal text means the file has
 * not been touched, unless it was touched so shortly before we looked that the clock could not tell.
 */
import type { BigIntStats } from "node:fs"

/** 80 hex digits: change time, modification time, device, inode, mode, owner, group, size. */
export type FileStat = string

/** A file younger than this when we looked may change again without its times changing. */
const settleNanoseconds = 50_000_000n
const coarseNanoseconds = 2_100_000_000n

export function encodeStat(stat: BigIntStats): FileStat {
  const bytes = Buffer.allocUnsafe(40)
  const words = [
    stat.ctimeNs / 1_000_000_000n,
    stat.ctimeNs % 1_000_000_000n,
    stat.mtimeNs / 1_000_000_000n,
    stat.mtimeNs % 1_000_000_000n,
    stat.dev,
    stat.ino,
    stat.mode,
    stat.uid,
    stat.gid,
    stat.size,
  ]
  for (const [i, word] of words.entries()) bytes.writeUInt32BE(Number(BigInt.asUintN(32, word)), i * 4)
  return bytes.toString("hex")
}

/** The permissions of a file; undefined for a link. */
export function permissionsOf(stat: FileStat): number | undefined {
  const mode = Number.parseInt(stat.slice(48, 56), 16)
  return (mode & 0o170000) === 0o100000 ? mode & 0o777 : undefined
}

export function ownerOf(stat: FileStat): { readonly uid: number; readonly gid: number } {
  return { uid: Number.parseInt(stat.slice(56, 64), 16), gid: Number.parseInt(stat.slice(64, 72), 16) }
}

/** Whether a file that still has this stat surely still has the content it had at `seenAt` (milliseconds). */
export function isSettled(stat: FileStat, seenAt: number): boolean {
  const times = [0, 16].map(
    (at) => BigInt(`0x${stat.slice(at, at + 8)}`) * 1_000_000_000n + BigInt(`0x${stat.slice(at + 8, at + 16)}`),
  )
  const newest = (times[0] as bigint) > (times[1] as bigint) ? (times[0] as bigint) : (times[1] as bigint)
  const coarse = times.every((time) => time % 1_000_000n === 0n)
  return newest + (coarse ? coarseNanoseconds : settleNanoseconds) < BigInt(Math.floor(seenAt)) * 1_000_000n
}

/** The same for git, which may compare whole seconds only. */
export function isSettledForGit(stat: FileStat, seenAt: number): boolean {
  const newest = Math.max(Number.parseInt(stat.slice(0, 8), 16), Number.parseInt(stat.slice(16, 24), 16))
  return newest < Math.floor(seenAt / 1000) - 1
}

/** With size 0 git sees the file as changed and we look at its content again. */
export function withoutSize(stat: FileStat): FileStat {
  return `${stat.slice(0, 72)}00000000`
}
