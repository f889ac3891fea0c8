/** Published figures of one place of a series. Times in milliseconds. */
export interface PublishedPoint {
  /** The series' label of the place. */
  readonly label: string;
  readonly h2Ms: number;
  readonly h3Ms: number;
}

export interface PublishedSeries {
  readonly source: string;
  /** The series of the experiment that it stands beside. */
  readonly series: string;
  /** Of the file: figures of another size do not stand beside these. */
  readonly bytes: number;
  readonly points: readonly PublishedPoint[];
  readonly findings: readonly string[];
}

/** What was published of a series, where its cells have files as large as that. */
export function publishedBeside(
  published: PublishedSeries,
  cells: readonly { readonly series: string; readonly bytes: number }[],
): PublishedSeries | undefined {
  const own = cells.filter(({ series }) => series === published.series);
  return own.every(({ bytes }) => bytes === published.bytes) ? published : undefined;
}
