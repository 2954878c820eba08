/**
 * What is loaded instead of the program by whoever must append and answer in about the time Node itself needs: later
 * `hook`, which other agents call on every step. Bundled by itself; whatever is imported here, each of those calls pays.
 */
import { findStateDirectory, openLog, placesIn } from "@ku0/agent-runtime"

export { findStateDirectory, openLog, placesIn }
