import { expect, test } from "vitest";
import { visible } from "../src/views/words";

test("what a page would obey or hide is escaped as the referee does", () => {
  for (const code of ["0000", "001b", "0085", "00ad", "061c", "200b", "200e", "2028", "2029", "202e", "2066", "feff"]) {
    expect(visible(`a${String.fromCharCode(parseInt(code, 16))}b`)).toBe(`a\\u${code}b`);
  }
  expect(visible(String.fromCodePoint(0xe0001))).toBe("\\U000e0001");
  expect(visible("┻━┻ é 🔴\n\tx")).toBe("┻━┻ é 🔴\n\tx");
});
