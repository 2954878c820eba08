/** Child processes: a clean environment, cold-start times, and the peak memory of a whole process tree. */
import { spawn, spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

/** The environment of every child: without NODE_EXTRA_CA_CERTS, which makes Node 20 parse all certificates at start. */
export function cleanEnvironment(more = {}) {
  const { NODE_EXTRA_CA_CERTS, NODE_OPTIONS, ...rest } = process.env
  const kept = Object.entries(rest).filter(([name]) => !name.startsWith("GIT_") && !/^(npm|pnpm)_/i.test(name))
  return { ...Object.fromEntries(kept), ...more }
}

/** Runs node to its end and throws if it failed. */
export function runNode(args, options = {}) {
  const done = spawnSync(process.execPath, args, { env: cleanEnvironment(options.env), encoding: "utf8" })
  if (done.status !== 0) throw new Error(`node ${args.join(" ")} failed: ${done.stderr}`)
  return done.stdout
}

/** Runs node and samples the resident memory of it and all its descendants; Linux only (elsewhere: null). */
export function peakMemory(args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      env: cleanEnvironment(options.env),
      stdio: ["ignore", "pipe", "inherit"],
    })
    let output = ""
    let peak = 0
    let own = 0
    let anonymous = 0
    child.stdout.on("data", (chunk) => {
      output += chunk
    })
    const timer = setInterval(() => {
      const tree = treeMemory(child.pid)
      peak = Math.max(peak, tree.total)
      own = Math.max(own, tree.own)
      anonymous = Math.max(anonymous, tree.anonymous)
    }, 4)
    child.on("error", reject)
    child.on("exit", (code) => {
      clearInterval(timer)
      if (code === 0)
        resolve({ peakMb: megabytes(peak), nodeMb: megabytes(own), anonymousMb: megabytes(anonymous), output })
      else reject(new Error(`node ${args.join(" ")} ended with ${code}`))
    })
  })
}

function treeMemory(root) {
  const children = new Map()
  const memory = new Map()
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1")
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      const parent = Number(fields[1])
      children.set(parent, [...(children.get(parent) ?? []), Number(name)])
      memory.set(Number(name), Number(fields[21]) * 4)
    } catch {}
  }
  let total = 0
  let anonymous = 0
  const stack = [root]
  while (stack.length > 0) {
    const pid = stack.pop()
    total += memory.get(pid) ?? 0
    anonymous += anonymousMemory(pid)
    stack.push(...(children.get(pid) ?? []))
  }
  return { total, anonymous, own: memory.get(root) ?? 0 }
}

/** Without files that are only mapped, such as the packs git reads: those pages are the system's to take back. */
function anonymousMemory(pid) {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0)
  } catch {
    return 0
  }
}

const megabytes = (kilobytes) => kilobytes / 1024 || null
