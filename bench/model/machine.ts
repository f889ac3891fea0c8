/** What a figure depends on beside what is measured: the stack, its versions, the machine. */
export interface Machine {
  readonly kernel: string;
  readonly arch: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly go: string;
  readonly quicGo: string;
  /** Unknown in runs that were made before there was one. */
  readonly quiche?: string;
  readonly k6: string;
  readonly workerd: string;
  readonly node: string;
  /** The commit of this repository, with "+" where files differ from it; unknown outside a checkout. */
  readonly commit: string;
}
