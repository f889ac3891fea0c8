import { mean } from "../statistics/summary.ts";
import { GAINS, type SenderPlace, type Stack } from "../senders/places.ts";
import { type Kind, MUCH_LOSS } from "./lean.ts";

/** What may be straight between no loss and much. The logarithm is of the loss and half a packet in a thousand, as it has none of 0. */
const SHAPES = {
  line: (loss: number): number => loss,
  logarithm: (loss: number): number => Math.log(loss + 0.0005),
} as const;
export type Shape = keyof typeof SHAPES;

/**
 * How far the gains that were measured between no loss and much are from what a shape says of them, by the gain at the same RTT and size
 * without loss and the mean gain of all places where much is lost: the root mean square. No policy has a figure of these places. Pure.
 *
 * @returns undefined where nothing was measured between
 */
export function offBetweenLosses(
  places: readonly SenderPlace[],
  { tcp, quic }: Stack,
  kind: Kind,
  shape: Shape,
): number | undefined {
  const measured = places.flatMap(({ times, ...place }) => {
    const [h2, h3] = [times[tcp], times[quic]];
    return h2 && h3 ? [{ ...place, gain: GAINS[kind](h2, h3).log }] : [];
  });
  const much = mean(measured.filter(({ lossRatio }) => lossRatio >= MUCH_LOSS).map(({ gain }) => gain));
  const clean = new Map(
    measured
      .filter(({ lossRatio }) => lossRatio === 0)
      .map(({ rttMs, contentBytes, gain }) => [`${rttMs} ${contentBytes}`, gain]),
  );
  const [from, to] = [SHAPES[shape](0), SHAPES[shape](MUCH_LOSS)];
  const squares = measured
    .filter(({ lossRatio }) => lossRatio > 0 && lossRatio < MUCH_LOSS)
    .map(({ rttMs, contentBytes, lossRatio, gain }) => {
      const share = (SHAPES[shape](lossRatio) - from) / (to - from);
      const none = clean.get(`${rttMs} ${contentBytes}`) ?? Number.NaN;
      return (gain - (1 - share) * none - share * much) ** 2;
    });
  return squares.length === 0 ? undefined : Math.sqrt(mean(squares));
}
