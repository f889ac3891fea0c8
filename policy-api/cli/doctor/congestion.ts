/** Those that slow down at each loss, whatever its cause. */
const BY_LOSS: ReadonlySet<string> = new Set(["cubic", "reno"]);

/** What the congestion control of the site's TCP means for its pages, by the kernel's name. Pure. */
export function meaningOfTcp(name: string): string {
  return BY_LOSS.has(name)
    ? `your TCP is ${name}: on lossy and distant paths pages could take half as long; see docs/deploy-server.md`
    : "nothing is to be done";
}
