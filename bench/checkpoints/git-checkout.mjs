/** What a restore is measured against: `git checkout` of the chosen files that syncs nothing. */
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
