import { QuoridorBot, run } from "referee-kit/quoridor";

class Odd extends QuoridorBot {
  async play() {
    const before = performance.now();
    await new Promise((done) => setTimeout(done, 50));
    console.log("slept", Math.floor((performance.now() - before) / 10));
    const deep = () => 1 + deep();
    try {
      deep();
    } catch (error) {
      process.stdout.write(`${error.name}\n`);
    }
    setTimeout(() => { throw new Error("from a timer"); });
    await new Promise(() => {});
  }
}

run(Odd);
