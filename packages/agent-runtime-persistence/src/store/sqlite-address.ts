/** `sqlite:PATH` or `sqlite://PATH` → the path; `memory:` → `:memory:`. `undefined` for any other address. */
export function findSqlitePath(url: string): string | undefined {
  const path = url === "memory:" ? ":memory:" : /^sqlite:(?:\/\/)?(.+)$/s.exec(url)?.[1]
  return path === undefined || path.includes("\0") || path.endsWith("/") ? undefined : path
}
