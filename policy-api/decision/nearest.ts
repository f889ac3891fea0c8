/**
 * The known name that was most likely meant: the one that the fewest changes of a letter lead to, if these are few for
 * its length. A change leaves out, adds or replaces one letter, or swaps two (optimal string alignment). Case does not
 * count.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  // If a third of the letters differ, it is another word. A name of another length is not compared at all.
  let least = Math.max(1, Math.floor(Math.min(name.length, 60) / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const changes = changesBetween(name.toLowerCase(), candidate.toLowerCase());
    if (changes >= least) continue;
    least = changes;
    nearest = candidate;
  }
  return nearest;
}

function changesBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (list: readonly number[], k: number): number => list[k] ?? 0;
      let changes = Math.min(at(row, j) + 1, at(next, j - 1) + 1, at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        changes = Math.min(changes, at(before, j - 2) + 1);
      next.push(changes);
    }
    before = row;
    row = next;
  }
  return row.at(-1) ?? 0;
}
