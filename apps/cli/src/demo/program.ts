/** The small real program the demo's agent works on, and what the agent does: the same every time, offline. */

/** The workspace as it is found. */
export const program: Readonly<Record<string, string>> = {
  "README.md": "# tally\n\nCounts words. `node test.mjs` tests it.\n",
  "src/words.mjs": `/** The words of a text, in lower case. */
export function words(text) {
  return text.toLowerCase().match(/[a-z]+/g) ?? []
}
`,
  "src/tally.mjs": `import { words } from "./words.mjs"

/** How often each word occurs. */
export function tally(text) {
  const counts = new Map()
  for (const word of words(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
`,
  "test.mjs": `import assert from "node:assert"
import { readdirSync } from "node:fs"
import { tally } from "./src/tally.mjs"

assert.equal(tally("a b A").get("a"), 2)
if (readdirSync("src").includes("top.mjs")) {
  const { top } = await import("./src/top.mjs")
  assert.deepEqual(top("b a b c c c", 2), ["c", "b"])
}
console.log("all tests pass")
`,
}

const topWords = `import { tally } from "./tally.mjs"

/** The most frequent words, the most frequent first. */
export function top(text, count) {
  const sorted = [...tally(text)].sort((a, b) => b[1] - a[1])
  return sorted.slice(0, count).map(([word]) => word)
}
`

/** Slow when it first runs, as a build is: that is when the process is killed. It ends when its mark is taken away. */
const slowTest =
  "[ -e ../warm ] || { : > ../warm; for i in $(seq 100); do [ -e ../warm ] && sleep 0.2; done; }; node test.mjs"

/** A good piece of work, cut off in the middle of its third turn. */
export const firstScript = [
  { content: "I look at the program first.", toolCalls: [{ name: "read_file", arguments: { path: "src/tally.mjs" } }] },
  {
    content: "Now the function that is missing.",
    toolCalls: [{ name: "write_file", arguments: { path: "src/top.mjs", content: topWords } }],
  },
  { content: "And the tests.", toolCalls: [{ name: "run_command", arguments: { command: slowTest } }] },
  { content: "top() is there and all tests pass.", expectLast: "all tests pass" },
]

/** The same agent on a bad day: it breaks the program and cleans up too much with a shell command. */
export const brokenScript = [
  {
    content: "I make it faster.",
    toolCalls: [
      {
        name: "write_file",
        arguments: { path: "src/tally.mjs", content: "export const tally = (text) => text.split()\n" },
      },
      { name: "run_command", arguments: { command: "rm -rf src/words.mjs test.mjs README.md && echo cleaned up" } },
    ],
  },
  { content: "It is much shorter now.", expect: "cleaned up" },
]

/** The second attempt, from the checkpoint on. */
export const betterScript = [
  {
    content: "Measured first: sorting is the slow part.",
    toolCalls: [{ name: "read_file", arguments: { path: "src/top.mjs" } }],
  },
  {
    content: "One pass is enough for the largest.",
    toolCalls: [
      {
        name: "write_file",
        arguments: {
          path: "src/top.mjs",
          content: topWords.replace(
            "  const sorted",
            "  if (count === 1) return [[...tally(text)].reduce((a, b) => (b[1] > a[1] ? b : a))[0]]\n  const sorted",
          ),
        },
      },
      { name: "run_command", arguments: { command: "node test.mjs" } },
    ],
  },
  { content: "Faster for the common case, and all tests pass.", expectLast: "all tests pass" },
]
