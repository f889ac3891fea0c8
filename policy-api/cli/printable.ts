/**
 * Text of others (notes, names, what a server says) for a terminal: control characters, escape sequences among them, and
 * what turns the direction of writing become "?".
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    /\s/u.test(character) ? " " : "?",
  );
}

/** At most so many characters, the last three of them "..." where some had to go. */
export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 3)).join("")}...`;
}
