import { Error as VegaError, logger, type LoggerInterface, parse, resetSVGDefIds, View, Warn } from "vega";
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
  // Vega only logs what goes wrong, and hands out an empty picture.
  const keeping = (level: number): LoggerInterface =>
    logger(level, undefined, (_method, _level, messages) => void complaints.push(messages.map(String).join(" ")));
  const compiled = compile(spec, { config: THEME, logger: keeping(Warn) }).spec;
  // While it runs, warnings are about data (no rows have no extent), and an empty picture is an answer.
  const view = new View(parse(compiled), { renderer: "none", logger: keeping(VegaError) });
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
