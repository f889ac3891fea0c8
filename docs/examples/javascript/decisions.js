// What to advertise to a client, by its RTT: asked of adaptive-h3, remembered for some seconds. Only what every platform
// with fetch has.

/**
 * @param api Where adaptive-h3 runs, such as https://www.example.com.
 * @param token Of scope read.
 * @param timeoutMs What a visitor waits for an answer at most.
 * @param freshMs How long an answer holds, and so how late a new policy or the kill switch is obeyed.
 * @param retryMs So soon it is asked again after a fault, or where no answer has come.
 * @returns a function of the RTT in milliseconds (undefined: not known) to the header's value. Undefined, on any fault too:
 *   say nothing. It never throws.
 */
export function decisions({ api, token, timeoutMs = 100, freshMs = 10_000, retryMs = 5_000 }) {
  // By step of RTT, four to a doubling. There are about 80 of them, so nothing has to be thrown away.
  const answers = new Map();

  async function ask(rttMs) {
    const response = await fetch(`${api}/_h3/v1/decisions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ paths: [{ transport: "tcp", rttMs }] }),
      // Not all can end a fetch (Fastly Compute cannot): there it is let go.
      signal: globalThis.AbortSignal?.timeout(retryMs),
    });
    if (!response.ok) throw new Error(`adaptive-h3 answered ${response.status}`);
    const { decisions: answered } = await response.json();
    return answered[0].altSvc ?? undefined;
  }

  return (rttMs) => {
    const step = rttMs > 0 ? Math.round(4 * Math.log2(Math.min(Math.max(rttMs, 0.05), 60_000))) : undefined;
    const known = answers.get(step);
    if (known !== undefined && known.untilMs > Date.now()) return known.altSvc;
    const askedMs = Date.now();
    const fresh = { untilMs: askedMs + retryMs };
    const answered = ask(step === undefined ? undefined : 2 ** (step / 4)).then(
      (altSvc) => {
        fresh.untilMs = askedMs + freshMs;
        return (fresh.altSvc = altSvc);
      },
      () => undefined,
    );
    const late = new Promise((resolve) => {
      setTimeout(resolve, timeoutMs);
    });
    // Who comes meanwhile waits for the same answer. One that is too late serves the next visitor.
    fresh.altSvc = Promise.race([answered, late]);
    answers.set(step, fresh);
    return fresh.altSvc;
  };
}

/**
 * The RTT that whoever ended the visitor's connection wrote into a header, microseconds. That one must overwrite what
 * visitors send under this name; who forges it changes what he himself is told, and nobody else.
 */
export function rttMsOf(headerValue) {
  const rttUs = Number(headerValue ?? Number.NaN);
  return rttUs > 0 ? rttUs / 1000 : undefined;
}
