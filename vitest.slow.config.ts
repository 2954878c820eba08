/** The slow proofs: crashes, a real PostgreSQL server, full disks, many processes, a browser. */
import { randomUUID } from "node:crypto"
import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["@ku0/source"] },
  ssr: { resolve: { conditions: ["@ku0/source"] } },
  test: {
    include: ["{packages,apps}/*/{src,test}/**/*.{slow,browser}.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // far beyond what anything takes: only what hangs meets them, also on a machine with other work
    testTimeout: 600_000,
    hookTimeout: 300_000,
    env: { KEEPUP_TEST_RUN: randomUUID() }, // what is made once for a run is known by it
    passWithNoTests: false,
    coverage: { include: ["packages/*/src/**"], exclude: ["**/*.test.ts", "**/testing/**"] },
  },
})
