/** The token of this tab. It lives in `sessionStorage`, never in an address: a code in the address is swapped for it at once. */

const key = "keepup.token"

export function readToken(): string | null {
  return sessionStorage.getItem(key)
}

export function keepToken(token: string): void {
  sessionStorage.setItem(key, token)
}

export function forgetToken(): void {
  sessionStorage.removeItem(key)
}

/** Takes the login code out of `#code=…` and out of the address and its history. */
export function takeCode(): string | null {
  const found = /^#code=([^&]+)$/.exec(location.hash)
  if (found === null) return null
  history.replaceState(null, "", `${location.pathname}${location.search}`)
  return decodeURIComponent(found[1] as string)
}
