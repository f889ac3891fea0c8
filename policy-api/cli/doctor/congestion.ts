/** Those that slow down at each loss, whatever its cause. */
const BY_LOSS: ReadonlySet<string> = new Set(["cubic", "reno"]);

/** Whether pages could be faster with another one, by the kernel's name. */
export function isSlowedByLoss(name: string): boolean {
  return BY_LOSS.has(name);
}

/** What the congestion control of the site's TCP means for its pages, by the kernel's name. Pure. */
export function meaningOfTcp(name: string): string {
  return isSlowedByLoss(name)
    ? `your TCP is ${name}: on lossy and distant paths pages could take half as long; see docs/deploy-server.md`
    : "nothing is to be done";
}
