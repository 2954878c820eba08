import { join } from "node:path"
import { openStore } from "../store/open-store.js"
import { describeTransfer } from "../testing/transfer-contract.js"

describeTransfer("SQLite", { numRuns: 40, open: (folder) => openStore(`sqlite:${join(folder, "keepup.db")}`) })
describeTransfer("memory", { numRuns: 60, open: () => openStore("memory:") })
