import { runMain } from "../../base/run-main.ts";
import { buildEdge } from "./build.ts";

await runMain(buildEdge);
