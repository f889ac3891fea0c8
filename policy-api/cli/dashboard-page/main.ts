import { parsePolicy } from "../../decision/policy.ts";
import type { DashboardData } from "./data.ts";
import { byId, element } from "./elements.ts";
import { forceOf, stateOf } from "./force.ts";
import { cellsOf, seenTable } from "./seen.ts";
import { drawSeries, seriesOf, seriesTable } from "./time.ts";

/** How often the page asks, milliseconds. */
const EVERY_MS = 10_000;

const by = byId("by") as HTMLSelectElement;
const hours = byId("hours") as HTMLSelectElement;
let shown: DashboardData | undefined;
/** Questions are numbered: an answer that comes late replaces none to a later question. */
let questions = 0;
let answered = 0;

async function refresh(): Promise<void> {
  const number = ++questions;
  try {
    const response = await fetch(`/data?hours=${hours.value}`);
    if (!response.ok) throw new Error((await response.text()).trim());
    const data = (await response.json()) as DashboardData;
    if (number < answered) return;
    answered = number;
    shown = data;
    show(data);
  } catch (error) {
    if (number < answered) return;
    say(`The dashboard's own program does not answer: ${error instanceof Error ? error.message : "unknown"}`, false);
  }
}

function show(data: DashboardData): void {
  byId("whose").textContent = `${data.origin}, ${new Date(data.atMs).toLocaleTimeString()}`;
  const { text, isGood } = stateOf(data);
  say(text, isGood);
  byId("force").replaceChildren(forceOf(data));
  showTime(data);
  showSeen(data);
  showEffect(data);
}

function say(text: string, isGood: boolean): void {
  const state = byId("state");
  // A screen reader speaks what changes here: only what is new.
  if (state.textContent !== text) state.textContent = text;
  state.className = isGood ? "good" : "bad";
}

function showTime({ stats, hours: asked, atMs }: DashboardData): void {
  const [chart, figures] = [byId("time"), byId("time-table")];
  if ("fault" in stats) {
    chart.replaceChildren();
    figures.replaceChildren(element("p", { class: "bad" }, stats.fault));
    return;
  }
  const series = seriesOf(stats.value, by.value, asked, atMs);
  drawSeries(chart, series);
  figures.replaceChildren(seriesTable(series, by.selectedOptions[0]?.text ?? by.value));
}

function showSeen({ stats, policy }: DashboardData): void {
  if ("fault" in stats) {
    byId("seen").replaceChildren(element("p", { class: "bad" }, stats.fault));
    return;
  }
  const parsed = "value" in policy ? parsePolicy(policy.value) : undefined;
  const counts = stats.value.hours.flatMap((hour) => hour.counts);
  byId("seen").replaceChildren(seenTable(cellsOf(counts, parsed?.ok === true ? parsed.value : undefined)));
}

function showEffect({ results, atMs }: DashboardData): void {
  const effect = byId("effect");
  if ("fault" in results) {
    effect.replaceChildren(element("p", { class: "bad" }, results.fault));
    return;
  }
  const { sentence, everyone } = results.value;
  const clients = everyone.offered.clients + everyone.withheld.clients;
  const empty = [
    element("p", {}, sentence),
    element(
      "p",
      {},
      "Nobody was drawn yet. Give the policy exploration and reports, such as ",
      element("code", {}, '"exploration": { "share": 0.5 }, "reports": { "share": 0.05, "inject": true }'),
      ": docs/measure-visitors.md says what visitors' pages then tell.",
    ),
  ];
  const picture = element("img", { src: `/effect.svg?at=${atMs}`, alt: sentence });
  effect.replaceChildren(...(clients === 0 ? empty : [element("p", {}, sentence), picture]));
}

/** Sends what a form has, and shows the texts that come back. */
function asks(form: string, path: string, texts: (reply: Readonly<Record<string, string>>) => string): void {
  const ask = async (): Promise<string> => {
    const body = JSON.stringify(Object.fromEntries(new FormData(byId(form) as HTMLFormElement)));
    try {
      const response = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body });
      if (!response.ok) return (await response.text()).trim();
      return texts((await response.json()) as Readonly<Record<string, string>>);
    } catch {
      return "The dashboard's own program does not answer.";
    }
  };
  byId(form).addEventListener("submit", (event) => {
    event.preventDefault();
    const said = byId(`${form}-said`);
    said.textContent = "Asking ...";
    void ask().then((text) => (said.textContent = text));
  });
}

asks("client", "/client", ({ known = "", answer = "" }) => `${known}\n\n${answer}`);
asks("diff", "/diff", ({ text = "" }) => text);
by.addEventListener("change", () => shown && showTime(shown));
hours.addEventListener("change", () => void refresh());
addEventListener("resize", () => shown && showTime(shown));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && showTime(shown));
void refresh();
setInterval(() => void refresh(), EVERY_MS);
