/**
 * The packages and apps that exist, read from their package.json files, in dependency order.
 * A folder without a package.json is not there; one without its entry source is listed with `hasContent: false`.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * @typedef {object} Entry
 * @property {string} subpath  the key in `exports`
 * @property {string} source   path of the source, relative to the member
 * @property {string} output   path the build must write, relative to the member
 *
 * @typedef {object} Member
 * @property {string} name
 * @property {string} folder      relative to the root, with forward slashes
 * @property {string[]} needs     names of the workspace members it depends on
 * @property {Entry[]} entries
 * @property {boolean} hasContent
 * @property {Record<string, unknown>} manifest
 */

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** All members, dependencies before dependents. @returns {Member[]} */
export function listMembers() {
  const members = ["packages", "apps"].flatMap((group) =>
    listFolders(group).map((name) => readMember(`${group}/${name}`)),
  )
  return sortByNeeds(members)
}

/** One member by package name or folder name, and everything it needs, dependencies first. @returns {Member[]} */
export function membersFor(name, members = listMembers()) {
  const wanted = findMember(name, members)
  const names = new Set()
  const visit = (member) => {
    if (names.has(member.name)) return
    names.add(member.name)
    for (const need of member.needs) visit(findMember(need, members))
  }
  visit(wanted)
  return members.filter((member) => names.has(member.name))
}

/** @returns {Member} */
export function findMember(name, members = listMembers()) {
  const found = members.find((member) => member.name === name || member.folder.split("/")[1] === name)
  if (found) return found
  throw new Error(`No package or app "${name}". There are: ${members.map((member) => member.name).join(", ")}.`)
}

function listFolders(group) {
  const folder = join(root, group)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "package.json")))
    .sort()
}

function readMember(folder) {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  const dependencies = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }
  const entries = Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) =>
    readEntries(folder, subpath, target),
  )
  return {
    name: manifest.name,
    folder,
    manifest,
    needs: Object.keys(dependencies).filter((name) => dependencies[name].startsWith("workspace:")),
    entries,
    hasContent: entries.some((entry) => existsSync(join(root, folder, entry.source))),
  }
}

/** `./agents/*` with source `./src/agents/{name}/index.ts` becomes one entry for each folder that has that file. */
function readEntries(folder, subpath, target) {
  const source = target?.["@ku0/source"]
  if (typeof source !== "string") return []
  const entry = { subpath, source, output: target.default }
  if (!subpath.includes("*")) return [entry]
  const [before, after] = source.split("*")
  const parent = join(root, folder, before)
  if (!existsSync(parent)) return []
  return readdirSync(parent)
    .map((file) => (after && file.endsWith(after) ? file.slice(0, -after.length) : file))
    .filter((name) => existsSync(join(root, folder, `${before}${name}${after}`)))
    .sort()
    .map((name) => ({
      subpath: subpath.replace("*", name),
      source: entry.source.replace("*", name),
      output: entry.output.replace("*", name),
    }))
}

function sortByNeeds(members) {
  const sorted = []
  const visit = (member, path) => {
    if (sorted.includes(member)) return
    if (path.includes(member.name)) throw new Error(`Packages need each other: ${[...path, member.name].join(" → ")}`)
    for (const need of member.needs) visit(findMember(need, members), [...path, member.name])
    sorted.push(member)
  }
  for (const member of members) visit(member, [])
  return sorted
}
