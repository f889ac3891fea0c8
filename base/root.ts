import { fileURLToPath } from "node:url";

/** The root folder of this project, with a slash at its end. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));
