/** What the page says of figures, which it must not where they say otherwise. @throws where they do */
export function claimed(holds: boolean, text: string): string {
  if (!holds) throw new Error(`The page says "${text}", and the recorded figures do not.`);
  return text;
}
