/** The default run: everything that needs nothing but Node and git. What it leaves out, `vitest.slow.config.ts` runs. */
import { randomUUID } from "node:crypto"
import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["@ku0/source"] },
  ssr: { resolve: { conditions: ["@ku0/source"] } },
  test: {
    include: ["{packages,apps}/*/{src,test}/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.{slow,browser}.test.ts"],
    // far beyond what anything takes: only what hangs meets them, also on a machine with other work
    testTimeout: 120_000,
    hookTimeout: 300_000,
    env: { KEEPUP_TEST_RUN: randomUUID() }, // what is made once for a run is known by it
    passWithNoTests: false,
    coverage: { include: ["packages/*/src/**"], exclude: ["**/*.test.ts", "**/testing/**"] },
  },
})
