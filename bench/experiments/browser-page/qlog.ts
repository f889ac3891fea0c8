/** What is read of an event of a server's qlog (infra/edge, `-qlog`). */
export interface QlogEvent {
  /** Milliseconds since the connection's first event. */
  readonly time: number;
  /** `recovery:packet_lost` */
  readonly name: string;
  readonly data: {
    readonly header?: { readonly packet_type?: string; readonly packet_number?: number };
    readonly raw?: { readonly length?: number };
    readonly frames?: readonly { readonly frame_type: string; readonly stream_id?: number }[];
    /** The state of congestion control that is entered. */
    readonly new?: string;
    /** Bytes. */
    readonly congestion_window?: number;
    /** Milliseconds. */
    readonly latest_rtt?: number;
    readonly min_rtt?: number;
  };
}

/** The events of a qlog in JSON text sequences (RFC 7464), in their order, without what an edge that was ended has cut off. */
export function eventsOf(qlog: string): QlogEvent[] {
  return qlog.split("\u001E").flatMap((text) => {
    try {
      const event = JSON.parse(text) as Partial<QlogEvent>;
      return event.name === undefined || event.time === undefined ? [] : [event as QlogEvent];
    } catch {
      return [];
    }
  });
}
