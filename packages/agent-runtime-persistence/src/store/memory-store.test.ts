import { describeStore } from "../testing/store-contract.js"
import { openStore } from "./open-store.js"

describeStore("memory", {
  open: (options) => openStore("memory:", options),
  cleanUp: async () => undefined,
})
