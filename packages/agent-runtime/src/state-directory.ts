/** Where everything lies under one root. */
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"

export interface FindStateDirectoryOptions {
  /** `--state-dir`. */
  readonly flag?: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly homeDirectory: string
}

/** `--state-dir` > `KEEPUP_STATE_DIR` > `$XDG_STATE_HOME/keepup` > `~/.local/state/keepup`. */
export function findStateDirectory({ flag, environment, homeDirectory }: FindStateDirectoryOptions): string {
  const chosen = flag ?? environment["KEEPUP_STATE_DIR"]
  if (chosen !== undefined && chosen !== "") return chosen
  const xdg = environment["XDG_STATE_HOME"]
  if (xdg?.startsWith("/")) return join(xdg, "keepup")
  if (homeDirectory !== "") return join(homeDirectory, ".local", "state", "keepup")
  throw new KeepupError("UNAVAILABLE", "There is no home directory to keep things in.", {
    hint: "Name a folder with --state-dir or KEEPUP_STATE_DIR.",
  })
}

export interface StorePlaces {
  /** The address of the database. */
  readonly db: string
  readonly artifacts: string
  readonly logs: string
  readonly token: string
}

/** `db` is `--db` or `KEEPUP_DB`; in project mode the database lies in the workspace. */
export function placesIn(
  stateDirectory: string,
  options: { readonly db?: string; readonly storage: "user" | "project"; readonly workspacePath: string },
): StorePlaces {
  const project = join(options.workspacePath, ".agents", "sessions.db")
  return {
    db: options.db ?? `sqlite:${options.storage === "project" ? project : join(stateDirectory, "keepup.db")}`,
    artifacts: join(stateDirectory, "artifacts"),
    logs: join(stateDirectory, "logs"),
    token: join(stateDirectory, "token"),
  }
}
