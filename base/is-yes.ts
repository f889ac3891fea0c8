/** Whether what somebody typed counts as yes. */
export function isYes(line: string): boolean {
  return /^\s*y(es)?\s*$/i.test(line);
}
