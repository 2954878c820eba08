/** Something was thrown that is none of our errors: trouble with files is told as such, anything else is a bug. */
import { fromFileError, isKeepupError, type KeepupError, toKeepupError } from "@ku0/agent-runtime"

/** What is asked of files, not of the network or of processes. */
const fileCalls =
  /^(f?write|read|open|close|mkdir|mkdtemp|rename|unlink|rmdir|f?sync|f?stat|lstat|scandir|opendir|copyfile|symlink|link|f?truncate|f?chmod|readlink|access|utime)$/

export function explainFailure(thrown: unknown): KeepupError {
  const { path, syscall } = (thrown ?? {}) as NodeJS.ErrnoException
  if (syscall === undefined || !fileCalls.test(syscall)) return toKeepupError(thrown)
  const known = fromFileError(thrown, path === undefined ? "go on" : `use ${path}`)
  // a file that is missing, or in the way, where nobody expected it is a bug all the same
  return isKeepupError(known) && known.code === "UNAVAILABLE" ? known : toKeepupError(thrown)
}
