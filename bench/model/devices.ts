/** What a browser has of one core, all its processes together; undefined: what the machine has. */
export const DEVICES = { fast: undefined, "half a core": 0.5, "quarter of a core": 0.25 } as const;
export type Device = keyof typeof DEVICES;
