import { defineLoopback } from "../../harness/loopback/define.ts";
import { overheadReport } from "./report.ts";

/**
 * What a request costs through the real edge over TLS and HTTP/2: alone, with a worker that only passes on, with this
 * worker; and through nginx.
 */
export const experiment = defineLoopback(overheadReport);
