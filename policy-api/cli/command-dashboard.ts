import { once } from "node:events";
import type { Command } from "./command.ts";
import { stateFolder } from "./endpoint.ts";
import { misused } from "./failure.ts";

/** Where it is unless somebody says otherwise. */
export const DASHBOARD_PORT = 8_480;

export const DASHBOARD: Command = {
  name: "dashboard",
  usage: "[--port N]",
  summary: "Serve a page that shows all of it, on this machine alone, until you press Ctrl-C.",
  details: `The page is at http://127.0.0.1:${DASHBOARD_PORT}/ (0: any free port). It can only read. The token stays in this
program: a browser never sees it. Whoever can use this machine can open the page. It ends with what
\`doctor\` and \`cost\` last answered on this machine.`,
  options: ["port"],
  async run({ options: { port = DASHBOARD_PORT, json }, io, api, print }) {
    if (json === true) throw misused("`dashboard` has no --json: it does not end.");
    const connected = await api();
    const { startDashboard } = await import("./dashboard-server.ts");
    const dashboard = await startDashboard(connected, { port, nowMs: io.nowMs, stateFolder: stateFolder(io) });
    print(`${connected.origin} is shown at\n\n  ${dashboard.url}\n\nCtrl-C ends it.`);
    await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    await dashboard.stop();
    return { json: {}, text: "" };
  },
};
