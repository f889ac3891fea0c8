/** The losses that pages are counted by, and that the bench measures senders at, 0 to 1. Nearly all clients are between 0 and 1 %. */
export const LOSS_NODES = [0, 0.001, 0.002, 0.005, 0.02, 0.05] as const;
