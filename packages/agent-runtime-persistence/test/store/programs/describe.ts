/** Opens a store and says all that is in it, by hash. */
import { openStore } from "../../../src/store/open-store.js"
import { describeStore } from "../describe-store.js"
import { hashOf, say } from "./said.js"

const store = await openStore(process.argv[2] ?? "")
say({ description: hashOf(JSON.stringify(await describeStore(store))) })
await store.close()
