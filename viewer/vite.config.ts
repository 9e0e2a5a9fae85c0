import { readdirSync } from "node:fs";
import { type Plugin, defineConfig } from "vite";

const NO_PAINTERS = ["arena.tsx", "brought.tsx", "declared.tsx", "index.tsx", "plain.tsx"];

/** Tells the referee which games are painted here: it sends no drawings of them. */
const painters: Plugin = {
  name: "painters",
  generateBundle() {
    const files = readdirSync("src/games").filter((file) => file.endsWith(".tsx") && !NO_PAINTERS.includes(file));
    const names = files.map((file) => file.replace(".tsx", "")).sort();
    this.emitFile({ type: "asset", fileName: "painters.json", source: JSON.stringify(names) });
  },
};

// Two files of fixed names: the referee writes them into its pages itself, and knows their hashes.
export default defineConfig({
  logLevel: "warn",
  plugins: [painters],
  build: {
    outDir: "../addons/web/static",
    license: { fileName: "licences.md" },
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      input: "src/main.tsx",
      output: { entryFileNames: "viewer.js", assetFileNames: "viewer[extname]", format: "iife" },
    },
  },
});
