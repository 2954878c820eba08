/** Keeping and going back: stores, sessions, checkpoints, snapshots, artifacts. */
export { type OpenStoreOptions, openStore, type Store } from "./store/open-store.js"
