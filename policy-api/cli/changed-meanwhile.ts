import { inForceText } from "./activation-text.ts";
import type { Api } from "./api.ts";
import type { Call } from "./command.ts";
import { EXIT, Failure } from "./failure.ts";

/**
 * Makes a change of the activation that was read before. If somebody else was faster, the failure says who, and what is in
 * force now, so that a person can decide again.
 *
 * @throws Failure
 */
export async function unlessChanged<T>(api: Api, io: Call["io"], change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof Failure) || error.exitCode !== EXIT.changed) throw error;
    const { activation } = await api.activation();
    const { revision, everyone, killSwitch } = activation;
    throw new Failure(
      EXIT.changed,
      `${activation.author} changed the activation meanwhile: nothing of yours was done.`,
      {
        ...error.details,
        detail: `In force now:\n${inForceText(activation, io.nowMs())}`,
        inForce: { revision, everyone, killSwitch },
      },
    );
  }
}
