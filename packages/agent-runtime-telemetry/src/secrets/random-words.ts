/**
 * Long random-looking strings: keys of makers nobody listed. Random means high Shannon entropy, letters mixed with
 * digits, and letter pairs that no language uses. What is random by nature and no secret stays: hashes, UUIDs, ids
 * under a name that says so, digests, embedded images, file names.
 */
import { type Detector, skipEscape } from "./detector.js"
import { kindOfName } from "./names.js"

const shortest = 24
const shortestInOneCase = 32
/** Longer is data (an image, a compressed file), not a key. */
const longest = 256

/** The letter pairs most frequent in English and in program text. */
const commonPairs = new Set(
  (
    "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne " +
    "ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa " +
    "ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp " +
    "fe bl ab gh ty op wo sa ay ex ke ui fr oo ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da " +
    "yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt ak pu ui rl ng"
  ).split(" "),
)

/** Ids that programs and model providers hand out in the open; conversations are put together by them. */
const idPrefix =
  /(?:toolu|srvtoolu|tool|call|fc|msg|message|req|resp|run|turn|step|thread|chatcmpl|cmpl|gen|asst|file|batch|evt|event|item|rs|ws|ses|session|prt|part|org|user|acct|cus|proj|build|job|task|sha\d{1,3}|md5)[_-]/y

/** Dates, hashes, and the parts of UUIDs. */
const numberOrHash = /^(?:\d+|(?:0x)?(?:[0-9a-f]{4}|[0-9a-f]{7,}))$/i
/** How images, documents and archives begin in base64. */
const fileStart = /(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|PHN2Zy|PD94bWw|JVBERi0|UEsDB|H4sI)/y
const alphabet = /abcdefgh|01234567/i
const fileEnding = /\.[a-z][a-z0-9]{0,4}(?![\w-])/y
/** Text before a word that says it is a digest or embedded data. */
const harmlessLead = /(?:base64,|%|sha-?\d{1,3}[:=-]|md5[:=-]|\bh1:|(?:ssh|ecdsa)-[\w-]{3,40} )$/i
/** A name with its separator just before a word. */
const lead = /([\w-]{1,64})(?:\\?["'`])?[ \t]{0,2}[:=]?[ \t]{0,2}(?:\\?["'`])?$/

/** Long enough, of the characters of words and of base64. */
const longRun = /[\w+/-]{24,}/g

export const redactRandomWords: Detector = (text, redact) => {
  let result = ""
  let copied = 0
  longRun.lastIndex = 0
  for (let match = longRun.exec(text); match !== null; match = longRun.exec(text)) {
    const from = skipEscape(text, match.index)
    const found = findSecrets(text, from, longRun.lastIndex)
    if (found.length === 0 || isIntroduced(text, from)) continue
    for (const [start, end] of found) {
      result += text.slice(copied, start) + redact()
      copied = text.startsWith("==", end) ? end + 2 : text[end] === "=" ? end + 1 : end
    }
  }
  return result + text.slice(copied)
}

/** Judges a run of word characters: as a whole, which can be base64, or else each part between slashes and pluses. */
function findSecrets(text: string, start: number, end: number): readonly (readonly [number, number])[] {
  if (end - start > longest || isWrapped(text, start, end)) return []
  const isPath = text[start] === "/" || text[start - 1] === "." || text[start - 1] === "~"
  if (!isPath && isSecretWord(text, start, end, false)) return [[start, end]]
  const found: [number, number][] = []
  let from = start
  for (const part of text.slice(start, end).split(/[+/]/)) {
    const to = from + part.length
    const inPath = text[from - 1] === "/" || text[to] === "/"
    if (part.length < end - start && isSecretWord(text, from, to, inPath)) found.push([from, to])
    from = to + 1
  }
  return found
}

const fullLineBefore = /(?:^|\n|\\n)(?:[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{76})(?:\r?\n|(?:\\r)?\\n)$/
const moreLines = /(?:\r?\n|(?:\\r)?\\n)[A-Za-z0-9+/]{4,}/y

/** A line of a block of base64, such as a certificate or an attachment: its lines have 64 or 76 characters. */
function isWrapped(text: string, start: number, end: number): boolean {
  moreLines.lastIndex = end
  if ((end - start === 64 || end - start === 76) && moreLines.test(text)) return true
  return fullLineBefore.test(text.slice(Math.max(0, start - 82), start))
}

function isSecretWord(text: string, start: number, end: number, inPath: boolean): boolean {
  const word = text.slice(start, end)
  if (!isRandom(word, inPath)) return false
  fileEnding.lastIndex = end
  return !fileEnding.test(text)
}

/** Whether the text before a word says that it is no secret: the name of an id, a kind of digest. */
function isIntroduced(text: string, start: number): boolean {
  idPrefix.lastIndex = start
  fileStart.lastIndex = start
  const before = text.slice(Math.max(0, start - 72), start)
  if (idPrefix.test(text) || fileStart.test(text) || harmlessLead.test(before)) return true
  const name = lead.exec(before)?.[1]
  return name !== undefined && kindOfName(name) === "reference"
}

/** Whether a word is random enough to be a key with nothing around it that says so. */
export function isRandom(word: string, inPath = false): boolean {
  const rest = word.split(/([-_])/).filter((part) => !numberOrHash.test(part))
  const core = rest.join("")
  const size = core.length
  if (size < shortest || alphabet.test(core)) return false
  const digits = count(core, /[0-9]/g)
  const isMixedCase = /[a-z]/.test(core) && /[A-Z]/.test(core)
  if (count(core, /[_+/-]/g) * 8 > size || digits === 0 || digits * 4 > size * 3) return false
  if (!isMixedCase && (inPath || size < shortestInOneCase || digits < 3)) return false
  const symbols = Math.min(size, isMixedCase ? 40 : 32)
  return entropy(core) >= 0.8 * Math.log2(symbols) && wordiness(core) <= 0.3
}

/** Whether a stretch without `-` and `_` has letters and digits and does not read like a word. */
export function hasRandomPart(text: string): boolean {
  return text.split(/[-_]/).some((part) => part.length >= 16 && /[0-9]/.test(part) && wordiness(part) <= 0.35)
}

/** Shannon entropy, in bits for each character. */
function entropy(word: string): number {
  const counts = new Map<string, number>()
  for (const char of word) counts.set(char, (counts.get(char) ?? 0) + 1)
  let bits = 0
  for (const times of counts.values()) bits -= (times / word.length) * Math.log2(times / word.length)
  return bits
}

/** How many common letter pairs there are for each character: about 0.5 in words and identifiers, 0.15 in random text. */
function wordiness(word: string): number {
  let common = 0
  for (const [run] of word.matchAll(/[A-Z]?[a-z]+|[A-Z]{2,}/g)) {
    for (let index = 1; index < run.length; index++) {
      if (commonPairs.has(run.slice(index - 1, index + 1).toLowerCase())) common++
    }
  }
  return common / word.length
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
