// The bot's own tests: `npm test`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

test("it greets, answers its first call, and ends", () => {
  const input = readFileSync("tests/first_call.jsonl");
  const bot = spawnSync("node", ["build/bot.js"], { input, encoding: "utf8", timeout: 10_000 });
  const answers = bot.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    answers.map((answer) => answer.id),
    [0, 1],
    bot.stderr,
  );
  assert.deepEqual(
    answers.map((answer) => answer.error),
    [undefined, undefined],
  );
  assert.equal(bot.status, 0);
});
