/** Times as people say them. */
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`, then the date. */
export function relativeTime(time: number, now: number): string {
  const age = now - time
  if (age < -minute) return dateTime(time)
  if (age < 10_000) return "just now"
  if (age < minute) return `${Math.floor(age / 1_000)} s ago`
  if (age < hour) return `${Math.floor(age / minute)} min ago`
  if (age < day) return `${Math.floor(age / hour)} h ago`
  if (age < 2 * day) return "yesterday"
  return age < 14 * day ? `${Math.floor(age / day)} days ago` : dateTime(time).slice(0, 10)
}

/** `2026-03-01 14:05:09`, in the time zone of the reader. */
export function dateTime(time: number): string {
  const date = new Date(time)
  const two = (part: number) => String(part).padStart(2, "0")
  const days = [String(date.getFullYear()), two(date.getMonth() + 1), two(date.getDate())].join("-")
  return `${days} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")}`
}

/** `850 ms`, `12 s`, `3 min 20 s`. */
export function length(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < minute) return `${Math.round(ms / 1_000)} s`
  const seconds = Math.round((ms % minute) / 1_000)
  return ms < hour
    ? `${Math.floor(ms / minute)} min ${seconds} s`
    : `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`
}
