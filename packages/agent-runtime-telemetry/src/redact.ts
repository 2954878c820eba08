/**
 * Takes secrets out of texts before they are logged or kept. Redacting twice is redacting once; the time grows with the
 * length of the text and nothing else; what is no secret stays byte for byte; a JSON text stays a JSON text.
 */
import { type Detector, redactedMark } from "./secrets/detector.js"
import { redactKeyedValues } from "./secrets/keyed-values.js"
import { redactPrivateKeys } from "./secrets/private-keys.js"
import { redactRandomWords } from "./secrets/random-words.js"
import { redactTokens } from "./secrets/tokens.js"
import { redactUrlPasswords } from "./secrets/url-passwords.js"

export interface RedactedText {
  readonly text: string
  /** How many secrets were replaced. */
  readonly count: number
}

const knownShapes: readonly Detector[] = [redactPrivateKeys, redactUrlPasswords, redactKeyedValues, redactTokens]
const allDetectors: readonly Detector[] = [...knownShapes, redactRandomWords]

/** Replaces the secrets in a text by `[REDACTED]` and says how many there were. */
export function redactSecrets(text: string): RedactedText {
  return run(text, allDetectors)
}

/** As `redactSecrets`, but leaves strings that are only random: for the values of ids and hashes. */
export function redactKnownSecrets(text: string): RedactedText {
  return run(text, knownShapes)
}

/** A replaced secret can uncover another beside it, so the detectors go on until they find nothing more. */
const mostRounds = 8

function run(original: string, detectors: readonly Detector[]): RedactedText {
  let text = original
  let count = 0
  const redact = () => {
    count++
    return redactedMark
  }
  for (let round = 0, before = -1; round < mostRounds && before !== count; round++) {
    before = count
    for (const detect of detectors) text = detect(text, redact)
  }
  return { text, count }
}
