/** Counts the lines of code in a source. Blank lines and lines with only a comment do not count. */
export function codeLines(source: string, comments: "slashes" | "hash"): number {
  let isInBlock = false;
  let lines = 0;
  for (const line of source.split("\n")) {
    const text = line.trim();
    if (isInBlock) {
      isInBlock = !text.endsWith(comments === "slashes" ? "*/" : '"""');
      continue;
    }
    if (text === "") continue;
    if (comments === "slashes" && text.startsWith("/*")) {
      isInBlock = !text.includes("*/");
      continue;
    }
    if (comments === "hash" && text.startsWith('"""')) {
      isInBlock = !text.slice(3).includes('"""');
      continue;
    }
    if (!text.startsWith(comments === "slashes" ? "//" : "#")) lines++;
  }
  return lines;
}
