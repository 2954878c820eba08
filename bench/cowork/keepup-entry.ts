/** What the bench bundles of keepup to write into the store while the server is asked. */
export { openRuntime } from "../../packages/agent-runtime/src/index.ts"
