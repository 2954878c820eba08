/** Keys and tokens that their maker gave a recognisable shape. One line per kind: to add one, add a line. */
import { type Detector, skipEscape } from "./detector.js"
import { hasRandomPart } from "./random-words.js"

/**
 * Shapes nothing else has; found also in the middle of a word. What one line matches ends with its longest run, so a miss
 * is cheap. Those that an image in base64 could hold by chance are not looked for within a long run.
 */
const distinctive = [
  /sk-ant-[\w-]{20,}/, // Anthropic
  /sk-(?:proj|svcacct|admin|or-v1)-[\w-]{20,}/, // OpenAI, OpenRouter
  /(?<![A-Za-z0-9+/]{8})(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}/, // AWS key id
  /(?<![A-Za-z0-9+/]{8})ABSK[A-Za-z0-9+/]{100,}={0,2}/, // AWS Bedrock
  /gh[pousr]_[A-Za-z0-9]{36,}/, // GitHub
  /github_pat_\w{60,}/,
  /gl(?:pat|dt|ft|rt|ptt|soat|imt|cbt|oas|agent|ffct)-[\w-]{20,}(?:\.[a-z0-9]{9})?/, // GitLab
  /GR1348941[\w-]{20,}/,
  /xox[a-z](?:[.-][A-Za-z0-9]{1,255}){0,6}-[A-Za-z0-9]{8,255}/, // Slack
  /xapp-\d-[A-Z0-9]+-\d+-[A-Za-z0-9]+/,
  /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9+/]{30,}/,
  /discord(?:app)?\.com\/api\/webhooks\/\d{15,}\/[\w-]{40,}/,
  /(?<![A-Za-z0-9+/]{8})AIza[\w-]{35}/, // Google
  /GOCSPX-[\w-]{24,}/,
  /ya29\.[\w-]{20,}/,
  /(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}/, // Stripe
  /whsec_[A-Za-z0-9+/]{24,}={0,2}/,
  /npm_[A-Za-z0-9]{36,}/,
  /pypi-AgE[\w-]{50,}/,
  /rubygems_[a-f0-9]{48}/,
  /dckr_(?:pat|oat)_[\w-]{20,}/, // Docker
  /hf_[A-Za-z0-9]{34,}/, // Hugging Face
  /api_org_[A-Za-z0-9]{34,}/,
  /gsk_[A-Za-z0-9]{40,}/, // Groq
  /xai-[A-Za-z0-9]{60,}/,
  /pplx-[A-Za-z0-9]{40,}/, // Perplexity
  /r8_[A-Za-z0-9]{37,}/, // Replicate
  /do[opr]_v1_[a-f0-9]{64}/, // DigitalOcean
  /dapi[a-f0-9]{32}/, // Databricks
  /shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}/, // Shopify
  /SG\.[\w-]{16,}\.[\w-]{32,}/, // SendGrid
  /xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}/,
  /lin_(?:api|oauth)_[A-Za-z0-9]{32,}/, // Linear
  /ntn_[A-Za-z0-9]{40,}/, // Notion
  /figd_[\w-]{36,}/, // Figma
  /PMAK-[a-f0-9]{24}-[a-f0-9]{34}/, // Postman
  /ATATT3[\w=-]{60,}/, // Atlassian
  /gl(?:sa|c)_[A-Za-z0-9+/_]{32,}={0,2}/, // Grafana
  /sntry[su]_[A-Za-z0-9+/_=]{40,}/, // Sentry
  /sbp_[a-f0-9]{40}/, // Supabase
  /pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}/,
  /dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{40,}/, // Doppler
  /hv[sb]\.[\w-]{24,}/, // HashiCorp Vault
  /AGE-SECRET-KEY-1[A-Z0-9]{58}/,
  /ops_eyJ[A-Za-z0-9+/]{80,}={0,2}/, // 1Password
  /sq0(?:atp|csp)-[\w-]{22,}/, // Square
  /\d{8,10}:AA[\w-]{33}/, // Telegram
]

/** Shapes that words can have too: a match counts only if part of it looks random. */
const ambiguous = [/sk[-_][A-Za-z0-9][\w-]{19,}/, /key-[a-z0-9]{32}/]

/** Not in the middle of a word; the letter of `\n` or of a terminal colour (`[32m`) is no part of a word. */
const wordStart = /(?<=^|[^A-Za-z0-9]|\\[nrtbf]|\[[0-9;]{0,12}m)/

const joined = (shapes: readonly RegExp[]) => shapes.map(({ source }) => source).join("|")
const distinctivePattern = new RegExp(joined(distinctive), "g")
const ambiguousPattern = new RegExp(`${wordStart.source}(?:${joined(ambiguous)})`, "g")

export const redactTokens: Detector = (text, redact) =>
  replaceSpans(text, [...findDistinctive(text), ...findJsonWebTokens(text)], redact).replace(
    ambiguousPattern,
    (token: string) => (hasRandomPart(token) ? redact() : token),
  )

interface Span {
  readonly start: number
  readonly end: number
}

/** One token can look as if another lay across it (`eyJ…hvb.eyJ…`): all that the two cover goes, as one. */
function replaceSpans(text: string, spans: readonly Span[], redact: () => string): string {
  let result = ""
  let copied = 0
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start)) {
    if (start >= copied) result += text.slice(copied, start) + redact()
    copied = Math.max(copied, end)
  }
  return result + text.slice(copied)
}

function findDistinctive(text: string): Span[] {
  return Array.from(text.matchAll(distinctivePattern), ({ 0: token, index }) => ({
    start: skipEscape(text, index),
    end: index + token.length,
  }))
}

const tokenPart = /[\w-]*/y

/** Signed and encrypted JSON tokens: three to five parts with dots between, of which the first is JSON (`{"` is `eyJ`). */
function findJsonWebTokens(text: string): Span[] {
  const found: Span[] = []
  for (let start = text.indexOf("eyJ"); start !== -1; start = text.indexOf("eyJ", tokenPart.lastIndex)) {
    const lengths = [partLength(text, start)]
    while (lengths.length < 5 && text[tokenPart.lastIndex] === ".") {
      lengths.push(partLength(text, tokenPart.lastIndex + 1))
    }
    const [first = 0, second = 0] = lengths
    if (first < 12 || lengths.length < 2 || second + (lengths[2] ?? 0) < 12) continue
    found.push({ start: skipEscape(text, start), end: tokenPart.lastIndex })
  }
  return found
}

function partLength(text: string, start: number): number {
  tokenPart.lastIndex = start
  return tokenPart.exec(text)?.[0].length ?? 0
}
