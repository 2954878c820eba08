/** Times, sizes and counts in words. Pure: `now` is handed in. */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

export function plural(count: number, word: string, many = `${word}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? word : many}`
}

/** "just now", "5 min ago", "yesterday"; dates after a week. */
export function timeAgo(time: number, now: number): string {
  const past = now - time
  if (past < 45_000) return "just now"
  if (past < hour) return `${Math.max(1, Math.round(past / minute))} min ago`
  if (past < day) return `${Math.round(past / hour)} h ago`
  if (past < 2 * day) return "yesterday"
  if (past < 7 * day) return `${Math.floor(past / day)} days ago`
  return dateOf(time)
}

export function clockTime(time: number): string {
  const date = new Date(time)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((one) => String(one).padStart(2, "0")).join(":")
}

export function dateOf(time: number): string {
  const date = new Date(time)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((one) => String(one).padStart(2, "0")).join("-")
}

export function dateTime(time: number): string {
  return `${dateOf(time)} ${clockTime(time)}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ["KB", "MB", "GB", "TB"]
  let value = bytes
  let unit = -1
  do {
    value /= 1_000
    unit++
  } while (value >= 999.5 && unit < units.length - 1)
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`
}

/** The last 8 characters, as lists everywhere show an id. */
export function shortId(id: string): string {
  return id.slice(-8)
}
