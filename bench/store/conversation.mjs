/** The conversation everybody stores: turns of about two kilobytes of text that does not repeat itself. */
import { createRandom } from "../snapshots/random.mjs"

const syllables =
  "ka ke ki ko ku ra re ri ro ru ta te ti to tu na ne ni no nu sa se si so su ma me mi mo mu la le li lo lu".split(" ")

export const turnBytes = 2048

/** The text of one turn, the same in every process. */
export function turnText(turn) {
  const random = createRandom(turn + 1)
  let text = `Turn ${turn}. `
  while (text.length < turnBytes) {
    for (let i = 1 + random.below(3); i >= 0; i--) text += random.pick(syllables)
    text += random.below(12) === 0 ? ".\n" : " "
  }
  return text.slice(0, turnBytes)
}

/** What the agent hands over with a checkpoint: small, and mostly the same from turn to turn. */
export function turnState(turn) {
  return {
    task: "Port the parser to the new tokenizer and keep the tests green.",
    progress: { turn, done: Math.floor(turn / 10) },
    openFiles: ["src/parser.ts", "src/tokenizer.ts"],
  }
}
