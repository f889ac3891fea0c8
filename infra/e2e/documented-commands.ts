/** The commands of a document: its indented blocks, separated by empty lines. */
export function commandsOf(markdown: string): string[] {
  return markdown
    .split("\n\n")
    .filter((paragraph) => paragraph.split("\n").every((line) => line.startsWith("    ")))
    .map((paragraph) =>
      paragraph
        .split("\n")
        .map((line) => line.trim())
        .join("\n")
        .trim(),
    )
    .filter((paragraph) => paragraph !== "");
}
