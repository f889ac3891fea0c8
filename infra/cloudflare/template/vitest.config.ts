import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** `name:scope:SHA-256` of the token "test". Secrets of a deployed worker are set by `wrangler secret put`. */
const POLICY_TOKENS = "test:write:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

export default defineConfig({
  plugins: [
    cloudflareTest({ wrangler: { configPath: "./wrangler.toml" }, miniflare: { bindings: { POLICY_TOKENS } } }),
  ],
  test: { testTimeout: 60_000 },
});
