/**
 * Makes other people's text (notes, names, a server's answer) safe for a terminal. Control characters, which begin escape
 * sequences, and characters that turn the direction of writing become "?".
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    /\s/u.test(character) ? " " : "?",
  );
}
