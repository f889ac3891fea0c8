import { parse, resetSVGDefIds, View, type LoggerInterface } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { THEME } from "./theme.ts";

/**
 * A Vega-Lite picture as SVG, the same bytes for the same data. Rendered without a canvas: text widths are estimated, so
 * leave labels room.
 */
export function renderSvg(spec: TopLevelSpec): Promise<string> {
  // One after another: Vega numbers its clip paths in a counter of the module.
  const rendered = last.then(() => render(spec));
  last = rendered.then(
    () => undefined,
    () => undefined,
  );
  return rendered;
}

let last: Promise<unknown> = Promise.resolve();

async function render(spec: TopLevelSpec): Promise<string> {
  const complaints: string[] = [];
  const compiled = compile(spec, { config: THEME, logger: logger(complaints, "warnings too") }).spec;
  // While it runs, warnings are about data (no rows have no extent), and an empty picture is an answer.
  const view = new View(parse(compiled), { renderer: "none", logger: logger(complaints, "errors") });
  try {
    await view.runAsync();
    resetSVGDefIds();
    const svg = await view.toSVG();
    if (complaints.length > 0) throw new Error(`the picture was not drawn as meant: ${complaints.join("; ")}`);
    return svg;
  } finally {
    view.finalize();
  }
}

/** Vega only logs what goes wrong, and hands out an empty picture. */
function logger(complaints: string[], kept: "errors" | "warnings too"): LoggerInterface {
  const keep = (...messages: readonly unknown[]): LoggerInterface => {
    complaints.push(messages.map(String).join(" "));
    return silent;
  };
  const drop = (): LoggerInterface => silent;
  function levelOf(level: number): LoggerInterface;
  function levelOf(): number;
  function levelOf(level?: number): LoggerInterface | number {
    return level === undefined ? 1 : silent;
  }
  const silent: LoggerInterface = {
    // Asked for a level, a logger answers with one; told one, with itself.
    level: levelOf,
    error: keep,
    warn: kept === "errors" ? drop : keep,
    info: drop,
    debug: drop,
  };
  return silent;
}
