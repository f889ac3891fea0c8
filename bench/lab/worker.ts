import { activatePolicy } from "../../infra/workerd/policy-client.ts";
import { startWorkerd, type Workerd } from "../../infra/workerd/workerd.ts";

/** The policy API's, in every system of the bench. */
export const TOKEN = "token-of-a-bench";

/** Starts workerd, with a policy for the worker in it if one is given. It ends with `stack`. @throws UserError */
export async function startWorker(
  options: Parameters<typeof startWorkerd>[0],
  policy: object | undefined,
  stack: AsyncDisposableStack,
  fail: (why: string) => void,
): Promise<Workerd> {
  const workerd = await startWorkerd(options);
  stack.defer(() => workerd.stop());
  void workerd.failed.then(fail);
  if (policy !== undefined) await activatePolicy(workerd.visitorsSocket, TOKEN, policy);
  return workerd;
}
