/** Milliseconds before and after 1970 that a date can hold; no time that is kept, or taken in, is further away. */
export const largestTime = 8_640_000_000_000_000
