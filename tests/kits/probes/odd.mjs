// Tells what it knows, and fails in the ways of a program in JavaScript.

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Bot, run } from "referee-kit";

console.log("early");

class Odd extends Bot {
    static game = "odd";
    calls = 0;

    constructor(match) {
        super(match);
        if (match.seat === 7) throw new Error("no seat 7");
    }

    answer(method, params) {
        ++this.calls;
        switch (method) {
            case "match": {
                const { game, seat, names, options, limits, seed } = this.match;
                const { startup_ms, call_ms, processes, scratch_bytes } = limits;
                return [game, seat, names, options.deep, startup_ms, call_ms ?? null, processes, scratch_bytes, seed];
            }
            case "alive":
                return this.calls;
            case "prints":
                process.stdout.write("stdout\n");
                fs.writeSync(1, "descriptor 1\n");
                console.error("stderr");
                return null;
            case "child":
                return spawnSync("sh", ["-c", "echo a child; ls /dev/fd/ | wc -l"], { stdio: "inherit" }).status;
            case "stdin":
                return fs.readFileSync(0, "utf8") + execFileSync("cat", { stdio: ["inherit", "pipe", "inherit"] });
            case "later":
                return sleep(20, "later");
            case "rejected":
                return sleep(1).then(() => { throw new RangeError("too late"); });
            case "in a timer":
                setTimeout(() => { throw new Error("nobody caught this"); }, 1);
                return new Promise(() => {});
            case "after the answer":
                setTimeout(() => { throw new Error("nobody heard this"); }, 1);
                return null;
            case "busy":
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); // timers are late for it
                return null;
            case "never":
                setInterval(() => {}, 1000);
                return null;
            case "cycle": {
                const cycle = {};
                cycle.cycle = cycle;
                return cycle;
            }
            case "deep":
                return this.answer(method, params);
            case "bare":
                throw new TypeError();
            case "word":
                throw "a word";
            case "nan":
                return [NaN, 2n ** 63n, "\ud83d"];
            case "leave":
                process.exit(3);
        }
        return super.answer(method, params);
    }

    notice(method) {
        throw new Error(`in ${method}`);
    }
}

run(Odd, "Odd", "2.1");
