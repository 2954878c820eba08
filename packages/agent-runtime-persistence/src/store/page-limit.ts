/** How many of a list are given at once. */

/** A whole number from 0 to `largest`; `usual` if none was asked for, or none that is a number. */
export function pageLimit(asked: number | undefined, usual: number, largest: number): number {
  const limit = asked === undefined || Number.isNaN(asked) ? usual : Math.floor(asked)
  return Math.max(0, Math.min(limit, largest))
}
