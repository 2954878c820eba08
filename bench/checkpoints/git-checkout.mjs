/** What a restore is measured against: git bringing the chosen files back, syncing nothing, with and without keeping the changes. */
import { git } from "../snapshots/git.mjs"

export async function gitCheckout(root) {
  await git(root, ["config", "core.fsync", "none"])
  let input
  return {
    choose(files) {
      input = files.join("\0")
    },
    async goBack() {
      await git(root, ["checkout", "-q", "HEAD", "--pathspec-from-file=-", "--pathspec-file-nul"], { input })
    },
  }
}

/** The same for changes that nobody keeps yet: `git stash` keeps them and takes them back. */
export async function gitStash(root) {
  await git(root, ["config", "core.fsync", "none"])
  return {
    async choose() {
      await git(root, ["stash", "clear"])
    },
    async goBack() {
      await git(root, ["stash", "push", "-q"])
    },
  }
}
