import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { UserError } from "../../base/user-error.ts";

/** A connection to the control socket of a netpath: one JSON object a line each way. */
export interface NetpathControl {
  /** Asks, and returns the line that is the answer; the next question waits. @throws UserError where netpath has ended */
  ask(question: object): Promise<string>;
  close(): void;
}

export async function openControl(path: string): Promise<NetpathControl> {
  const socket = connect(path);
  await once(socket, "connect");
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const askNow = async (question: object): Promise<string> => {
    socket.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new UserError("netpath ended while it was asked.");
    return value;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask: (question) => {
      const answer = last.then(() => askNow(question));
      last = answer.catch(() => undefined);
      return answer;
    },
    close: () => socket.destroy(),
  };
}
