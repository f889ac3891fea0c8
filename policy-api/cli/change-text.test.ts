import { expect, it } from "vitest";
import { jsonDiff } from "../decision/json-diff.ts";
import { changeText } from "./command-versions.ts";

const numbers = (length: number): number[] => Array.from({ length }, (_, i) => 100 + i);

it.each<readonly [unknown, unknown, readonly string[]]>([
  [{ enter: 0.05 }, { enter: 0.1 }, ["/enter 0.05 -> 0.1"]],
  [{}, { source: "measured" }, ['/source - -> "measured"']],
  [{ source: "x".repeat(100) }, {}, [`/source "${"x".repeat(100)}" -> -`]],
  [{ axis: [1, 2] }, { axis: [1, 3] }, ["/axis [1,2] -> [1,3]"]],
  [
    { ms: numbers(1_200) },
    { ms: numbers(1_200).map((ms, i) => (i < 37 ? ms * 1.04 : ms)) },
    ["/ms 1,200 numbers, 37 differ, by at most 3.85 %"],
  ],
  [
    { ms: numbers(10).fill(0) },
    { ms: [...numbers(10).fill(0, 0, 9).slice(0, 9), 5] },
    ["/ms 10 numbers, 1 differ, by at most 100 %"],
  ],
  [{ ms: numbers(1_200) }, { ms: numbers(900) }, ["/ms 1,200 numbers -> 900 numbers"]],
  [{ method: { kind: "share", share: 1 } }, {}, ['/method {"kind":"share","share":1} -> -']],
  [{}, { method: { kind: "gains", mix: numbers(20) } }, ["/method - -> { kind, mix }"]],
])("%#", (before, after, lines) => {
  expect(jsonDiff(before, after).map((change) => `${change.pointer} ${changeText(change)}`)).toEqual(lines);
});
