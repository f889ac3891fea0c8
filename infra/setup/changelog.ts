/** The heading in CHANGELOG.md above the changes of the next version. */
const UNRELEASED = /^## .* - unreleased$/m;

/** A version of the form MAJOR.MINOR.PATCH. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** Whether `version` is a version, and is `current` (which was never released) or comes after it. */
export function mayFollow(version: string, current: string): boolean {
  const [next, now] = [version, current].map((text) => VERSION.exec(text)?.slice(1).map(Number));
  if (next === undefined || now === undefined) return false;
  for (const [i, part] of next.entries()) if (part !== now[i]) return part > (now[i] ?? 0);
  return true;
}

/**
 * The changelog with the unreleased changes under a version and its day.
 *
 * @param day YYYY-MM-DD.
 * @returns undefined if no changes are under a heading "## ... - unreleased".
 */
export function releasedChangelog(text: string, version: string, day: string): string | undefined {
  const heading = UNRELEASED.exec(text);
  if (heading === null) return undefined;
  const after = text.slice(heading.index + heading[0].length);
  const changes = after.slice(0, /^## /m.exec(after)?.index ?? after.length);
  if (!/^- /m.test(changes)) return undefined;
  return `${text.slice(0, heading.index)}## ${version} - ${day}${after}`;
}
