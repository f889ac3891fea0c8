import { documentOf } from "../../model/content.ts";
import type { Load } from "../../model/plan.ts";
import type { Lane } from "../../lab/lane.ts";
import { type Navigation, navigationId } from "./row.ts";
import { APART_MS, NAVIGATIONS, TIMEOUT_MS } from "./scenarios.ts";

/** The navigations of one client in one stretch, in order. */
export function navigationsOf(stretch: Omit<Navigation, "number">): Navigation[] {
  return Array.from({ length: NAVIGATIONS[stretch.stretch] }, (_, i) => ({ ...stretch, number: i + 1 }));
}

/**
 * A navigation as k6 makes it: a session of its own, which begins on HTTP/2 and follows an offer for its image. All come
 * from the client's one address.
 */
export function loadOf(
  navigation: Navigation,
  clientAddress: string,
  { edgePids, ...origin }: ReturnType<Lane["origin"]>,
): Load {
  const { imageBytes } = navigation.scenario;
  return {
    id: navigationId(navigation),
    clientAddress,
    origin,
    edgePids,
    timeoutMs: TIMEOUT_MS,
    switch: "wait",
    sessions: [
      {
        timed: true,
        firstProtocol: "h2",
        // The document's path tells the policy how much the page transfers.
        pages: [{ document: documentOf(imageBytes), subresources: [`/image/${imageBytes}`] }],
        pauseAfterMs: APART_MS,
      },
    ],
  };
}
