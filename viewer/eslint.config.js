import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules", "src/games/types"] },
  js.configs.recommended,
  tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off", // indexes that are in range by construction
      "@typescript-eslint/no-dynamic-delete": "off", // the members of JSON objects
    },
  },
  {
    files: ["src/games/*.tsx"], // a painter knows the types of its frames
    rules: { "@typescript-eslint/consistent-type-assertions": ["error", { assertionStyle: "never" }] },
  },
);
