/** What the name of a field, variable, option or header says about its value. */

export type NameKind =
  /** A password: any value is secret, a number too. */
  | "password"
  /** A secret, token or key: secret unless it is a number, a path or plainly words. */
  | "token"
  /** Can be one: secret if it looks random. */
  | "maybe"
  | "authorization"
  | "cookie"
  /** Names something in the open: ids and hashes are random and no secrets. */
  | "reference"
  | "plain"

const telling =
  /pass|pwd|secret|token|key|auth|cred|cookie|jwt|bearer|sig|pat$|id|hash|sha|md5|digest|sum|integ|etag|commit|rev|tree|ref|curs|finger/i

const endings: readonly (readonly [NameKind, RegExp])[] = [
  [
    "plain",
    /(?:^|_)(?:page|next|continuation|sync|cancel|cancellation|eos|bos|pad|unk|stop|sep|mask|cls|first|last|special|start|end|per|each|public)_(?:token|key)$/,
  ],
  ["password", /(?:passwords?|passwd|passphrase|passcode|pwd|_pass)$/],
  ["authorization", /(?:^|_)authorization$/],
  ["cookie", /(?:^|_)cookies?$/],
  ["token", /(?:^pass|secrets?|token|apikey|jwt|bearer|credentials?)$/],
  [
    "token",
    /(?:^|_)(?:api|access|secret|private|encryption|signing|auth|account|service|master|session|client|shared|license|app|storage|deploy|admin|consumer|subscription|host)_keys?$/,
  ],
  ["maybe", /(?:^|_)(?:auth|key|sig|signature|pat)$/],
  [
    "reference",
    /(?:^|_)(?:ids?|uuid|guid|hash|hashes|sha|md|digest|checksum|integrity|etag|commit|revision|rev|tree|ref|cursor|fingerprint)$/,
  ],
]

/** Judges `DB_PASSWORD`, `accessToken`, `x-api-key` and `tokenCount` alike, by the last of their words. */
export function kindOfName(name: string): NameKind {
  if (!telling.test(name)) return "plain"
  const words = name
    .slice(-100)
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase()
    .replace(/_+$/, "")
    .replace(/_?\d{1,3}$/, "")
    .replace(/_(?:value|text|plain|raw|string|base|base64|b64|data|env)$/, "")
  return endings.find(([, ending]) => ending.test(words))?.[0] ?? "plain"
}
