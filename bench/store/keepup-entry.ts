/** What the bench bundles of keepup's store. */
export { openStore } from "../../packages/agent-runtime-persistence/src/index.ts"
