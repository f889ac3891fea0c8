/** A sentence for the person who started the program; printed without a stack. */
export class UserError extends Error {}
