/** Made-up secrets for tests. Prefixes are put together here so that no file holds anything that looks live. */
import fc from "fast-check"

const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
const lower = upper.toLowerCase()
const digits = "0123456789"
const letters = upper + lower + digits

function text(chars: string, least: number, most = least): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...chars), minLength: least, maxLength: most })
}

const join = (...parts: string[]) => parts.join("")

/** A body of the length asked for that reads as what it is. */
export const body = (length: number) => "Fake0Fake1Value2Not3Real4".repeat(20).slice(0, length)

/** A body of the length asked for that looks random and is always the same. */
export function noise(length: number, seed = 7): string {
  let state = seed
  return Array.from({ length }, () => {
    state = (state * 48271) % 2147483647
    return letters[state % letters.length]
  }).join("")
}

/** Kind → a secret that is recognised by its shape alone. The arbitrary gives whole secrets. */
export const shapedSecrets: Readonly<Record<string, fc.Arbitrary<string>>> = {
  anthropic: text(`${letters}_-`, 80, 100).map((rest) => join("sk-", "ant-", "api03-", rest)),
  openaiProject: text(`${letters}_-`, 60, 160).map((rest) => join("sk-", "proj-", rest)),
  awsKeyId: text(`${upper}234567`, 16).map((rest) => join("AK", "IA", rest)),
  awsSessionKeyId: text(`${upper}234567`, 16).map((rest) => join("AS", "IA", rest)),
  github: fc
    .tuple(fc.constantFrom("p", "o", "u", "s", "r"), text(letters, 36, 60))
    .map(([k, r]) => join("gh", k, "_", r)),
  githubFineGrained: text(`${letters}_`, 82).map((rest) => join("github", "_pat_", rest)),
  gitlab: text(`${letters}_-`, 20, 40).map((rest) => join("gl", "pat-", rest)),
  slackBot: fc
    .tuple(text(digits, 11), text(digits, 12), text(letters, 24))
    .map(([a, b, c]) => join("xo", "xb-", a, "-", b, "-", c)),
  slackApp: fc
    .tuple(text(upper + digits, 11), text(digits, 13), text(lower + digits, 64))
    .map(([a, b, c]) => join("xa", "pp-1-", a, "-", b, "-", c)),
  google: text(`${letters}_-`, 35).map((rest) => join("AI", "za", rest)),
  stripe: fc.tuple(fc.constantFrom("sk", "rk"), text(letters, 24, 99)).map(([k, r]) => join(k, "_li", "ve_", r)),
  npm: text(letters, 36).map((rest) => join("np", "m_", rest)),
  huggingFace: text(letters, 34).map((rest) => join("h", "f_", rest)),
  pypi: text(`${letters}_-`, 60, 160).map((rest) => join("py", "pi-AgE", rest)),
  sendgrid: fc.tuple(text(`${letters}_-`, 22), text(`${letters}_-`, 43)).map(([a, b]) => join("S", "G.", a, ".", b)),
  digitalOcean: text("0123456789abcdef", 64).map((rest) => join("do", "p_v1_", rest)),
  groq: text(letters, 52).map((rest) => join("gs", "k_", rest)),
  vault: text(`${letters}_-`, 90, 120).map((rest) => join("hv", "s.", rest)),
  telegram: fc.tuple(text("123456789", 10), text(`${letters}_-`, 33)).map(([a, b]) => join(a, ":A", "A", b)),
  jsonWebToken: fc
    .tuple(text(`${letters}_-`, 20, 60), text(`${letters}_-`, 20, 200), text(`${letters}_-`, 43))
    .map(([a, b, c]) => join("ey", "J", a, ".ey", "J", b, ".", c)),
  privateKey: fc
    .tuple(
      fc.constantFrom("", "RSA ", "EC ", "OPENSSH "),
      fc.array(text(`${letters}+/`, 64), { minLength: 1, maxLength: 8 }),
    )
    .map(([kind, lines]) =>
      join("-----BEGIN ", kind, "PRIVATE KEY-----\n", lines.join("\n"), "\n-----END ", kind, "PRIVATE KEY-----"),
    ),
}

/** How a text begins that stands for a password instead of being one. */
const placeholderStart = /^(?:your|replace|change|insert|put|enter)_/i

/** A password without characters that end it in the forms below, and no placeholder. */
export const password = text(`${letters}!#_~`, 6, 24).filter(
  (value) =>
    /[0-9]/.test(value) && /[A-Za-z]/.test(value) && /^[a-zA-Z0-9]/.test(value) && !placeholderStart.test(value),
)

/** Kind → a text in which the password stands so that it is known to be one. */
export const passwordForms: Readonly<Record<string, (password: string) => string>> = {
  environment: (value) => `DB_PASSWORD=${value}`,
  exported: (value) => `export API_TOKEN=${value}`,
  json: (value) => `{"password": ${JSON.stringify(value)}}`,
  jsonInJson: (value) => JSON.stringify(JSON.stringify({ clientSecret: value })),
  yaml: (value) => `database:\n  password: ${value}\n  port: 5432`,
  yamlQuoted: (value) => `  api_key: '${value}'`,
  code: (value) => `const secretKey = "${value}"`,
  typedCode: (value) => `const password: string = "${value}"`,
  option: (value) => `mysql --password ${value} --host db`,
  optionEquals: (value) => `tool --auth-token=${value}`,
  header: (value) => `X-Api-Key: ${value}`,
  authorization: (value) => `Authorization: Bearer ${value}`,
  cookie: (value) => `Cookie: theme=dark; session=${value}; lang=en`,
  setCookie: (value) => `Set-Cookie: sid=${value}; Path=/; HttpOnly`,
  query: (value) => `GET /callback?access_token=${encodeURIComponent(value)}&state=1`,
  xml: (value) => `<server><password>${value}</password></server>`,
  netrc: (value) => `machine host login someone password ${value}`,
  curl: (value) => `curl -s -u someone:${value} https://host.example/`,
  ...Object.fromEntries(
    ["postgres", "mongodb+srv", "redis", "amqp", "mysql", "https"].map((scheme) => [
      scheme,
      (value: string) => `${scheme}://someone:${encodeURIComponent(value)}@db.example:1234/name`,
    ]),
  ),
}

/** Random strings of makers nobody listed: long, mixed, and with a digit. */
export const unknownKey = text(letters, 40, 64).filter((value) => (value.match(/[0-9]/g) ?? []).length >= 3)

/** Words as people and programs write them. */
export const prose = fc
  .array(
    fc.constantFrom(
      ..."the agent wrote a file and then ran tests in packages/core/src before it stopped because tokens were spent".split(
        " ",
      ),
      ..."createFileContextTracker maxTokens tokenCount total_tokens: 523 secretary passwordless keyboard monkey-patch".split(
        " ",
      ),
      ..."user@example.com https://example.com:8080/a/b?page=2#top v1.2.3-beta.4 0.5 100% (ok) [x] {a: 1} it's “quoted”".split(
        " ",
      ),
      ..."9f86d081884c7d659a2feaa0c55ad015a3bf4f1b 018f3a5e-7c1d-7b2a-9e4f-1a2b3c4d5e6f basic bearers authorization".split(
        " ",
      ),
    ),
    { minLength: 0, maxLength: 40 },
  )
  .map((words) => words.join(" "))
