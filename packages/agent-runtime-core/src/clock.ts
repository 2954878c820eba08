/** Time and ids are handed in, so that tests are exact and nothing pure reads the machine. */

export interface Clock {
  /** Milliseconds since 1970. May jump in either direction: never decide an order by it. */
  now(): number
}

export interface IdSource {
  /** A fresh UUIDv7. */
  next(): string
}
