import { ACTIVATE } from "./command-activate.ts";
import { FORGET, LOOK_UP } from "./command-clients.ts";
import { AUTOPILOT } from "./command-autopilot.ts";
import { COMPILE } from "./command-compile.ts";
import { COST } from "./command-cost.ts";
import { DASHBOARD } from "./command-dashboard.ts";
import { DIFF } from "./command-diff.ts";
import { DOCTOR } from "./command-doctor.ts";
import { EXPLAIN } from "./command-explain.ts";
import { KILL } from "./command-kill.ts";
import { MARKER_RULE } from "./command-marker-rule.ts";
import { PROPOSE } from "./command-propose.ts";
import { RESULTS } from "./command-results.ts";
import { ROLLBACK } from "./command-rollback.ts";
import { AUDIT, HISTORY, STATUS } from "./command-status.ts";
import { STATS, WATCH } from "./command-stats.ts";
import { TOKEN } from "./command-token.ts";
import { VALIDATE } from "./command-validate.ts";
import { LIST, PUSH, SHOW } from "./command-versions.ts";
import type { Command } from "./command.ts";

/** In the order in which a policy goes into force. */
export const COMMANDS: readonly Command[] = [
  VALIDATE,
  DIFF,
  COMPILE,
  MARKER_RULE,
  PUSH,
  LIST,
  SHOW,
  ACTIVATE,
  STATUS,
  HISTORY,
  AUDIT,
  ROLLBACK,
  KILL,
  STATS,
  WATCH,
  DASHBOARD,
  RESULTS,
  PROPOSE,
  AUTOPILOT,
  EXPLAIN,
  LOOK_UP,
  FORGET,
  TOKEN,
  DOCTOR,
  COST,
];
