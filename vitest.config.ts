/** The default run: everything that needs nothing but Node and git. What it leaves out, `vitest.slow.config.ts` runs. */
import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["@ku0/source"] },
  ssr: { resolve: { conditions: ["@ku0/source"] } },
  test: {
    include: ["{packages,apps}/*/{src,test}/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.{slow,browser}.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
    coverage: { include: ["packages/*/src/**"], exclude: ["**/*.test.ts", "**/testing/**"] },
  },
})
