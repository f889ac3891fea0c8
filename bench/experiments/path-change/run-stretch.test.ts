import { expect, it } from "vitest";
import { loadOf } from "./run-stretch.ts";
import { SCENARIOS } from "./scenarios.ts";

const origin = {
  host: "localhost",
  address: "192.0.2.1",
  port: 8000,
  caFile: "ca.pem",
  edgePids: [7],
  spkiSha256: "",
  traceFile: undefined,
};

it("a navigation is a session that begins on HTTP/2", () => {
  const scenario = SCENARIOS.find(({ name }) => name === "rate");
  if (scenario === undefined) throw new Error("There is a scenario of that name.");
  const navigation = { scenario, congestion: "bbr", client: 2, stretch: "A1", number: 3 } as const;
  expect(loadOf(navigation, "10.0.1.1", origin)).toMatchObject({
    id: "rate/bbr/2/A1/3",
    clientAddress: "10.0.1.1",
    edgePids: [7],
    origin: { port: 8000 },
    sessions: [
      {
        timed: true,
        firstProtocol: "h2",
        pages: [{ document: "/index.html/10000000", subresources: ["/image/10000000"] }],
        pauseAfterMs: 1_200,
      },
    ],
  });
});
