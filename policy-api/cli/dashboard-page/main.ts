import { parsePolicy } from "../../decision/policy.ts";
import type { DashboardData, KeptAnswer, Part } from "./data.ts";
import { byId, element, tableOf } from "./elements.ts";
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
  byId("note").textContent = data.note ?? "";
  byId("whose").textContent = `${data.origin}, ${timeOf(data.atMs)}`;
  const faults = faultsOf(data);
  say(faults.join("\n") || "No fault is known.", faults.length === 0);
  showSaved(data.results);
  showText("force", data.inForce);
  showStats(data);
  showAnswer("doctor", data.doctor);
  showAnswer("cost", data.cost);
}

/** A line for each thing that is not well. */
function faultsOf({ health, stats }: DashboardData): readonly string[] {
  if ("fault" in health) return [health.fault];
  const { problems, warnings, killSwitch } = health.value;
  const { asked, answered: heard } = "value" in stats ? stats.value.objects : { asked: 1, answered: 1 };
  return [
    killSwitch !== null && `The kill switch is on (${killSwitch.kind}).`,
    ...[...problems, ...warnings].map((sentence) => `${sentence}.`),
    asked === 0 && "Nothing is counted: the worker has no binding COUNTERS (wrangler.toml has it).",
    heard < asked && `Counts lack ${asked - heard} of ${asked} regions: the store did not answer there.`,
  ].filter((fault) => fault !== false);
}

function showSaved(results: DashboardData["results"]): void {
  if ("fault" in results) {
    byId("effect").replaceChildren(element("p", { class: "bad" }, results.fault));
    return;
  }
  const { version, sentence, rows, doubts } = results.value;
  const caption = `Load time that an offer saves, under version ${version}, by RTT, country and network. Below 0 an offer costs time: there the policy is to make none. The intervals are of 95 %. Clients: offered / not offered, as they were \
drawn. So the line of all is HTTP/3 for everybody beside HTTP/3 for nobody. No claim: "not yet" where the interval holds 0, "not for all pages" where it would if pages without a report were slow, \
"in doubt" where a sentence below says why.${whoseText(rows.map(([whose]) => whose))}`;
  const headings = ["whose", "clients", "saved", "claim"];
  byId("effect").replaceChildren(
    element("p", { class: "answer" }, sentence),
    ...(rows.length === 0 ? [] : [tableOf(caption, headings, rows)]),
    ...doubts.map((doubt) => element("p", { class: "doubt" }, doubt)),
  );
}

/** Where to find whose networks are that have no name here. */
function whoseText(names: readonly string[]): string {
  const network = names.find((name) => /^AS\d+$/.test(name));
  return network === undefined
    ? ""
    : ` AS and a number are a network (an autonomous system). A registry says whose it is: https://stat.ripe.net/${network}`;
}

/** What a command answered last, below when it was asked and how. */
function showAnswer(name: "doctor" | "cost", part: Part<KeptAnswer | null>): void {
  if ("fault" in part) {
    showText(name, part);
    return;
  }
  const paragraph = (text: string): Node => element("p", {}, text);
  const { value: answer } = part;
  byId(name).replaceChildren(
    ...(answer === null
      ? [paragraph(`None is kept on this machine. This command makes one: npm run policy -- ${name}`)]
      : [
          paragraph(`${timeOf(answer.atMs)}, ${answer.command}`),
          ...answer.text
            .split("\n\n")
            .map((block) => element("pre", isTable(block) ? { class: "kept", tabindex: "0" } : {}, block)),
        ]),
  );
}

/** Columns of a terminal are two blanks apart. */
function isTable(text: string): boolean {
  return /\S {2,}\S/.test(text);
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function showText(id: string, part: Part<string>): void {
  const [name, text] = "fault" in part ? ["bad", part.fault] : ["", part.value];
  byId(id).replaceChildren(element("pre", { class: name }, text));
}

function say(text: string, isGood: boolean): void {
  const state = byId("state");
  // A screen reader speaks what changes here: only what is new.
  if (state.textContent !== text) state.textContent = text;
  state.className = isGood ? "good" : "bad";
}

function showStats({ stats, everyone, hours: asked, atMs }: DashboardData): void {
  const [chart, figures, seen] = [byId("time"), byId("time-table"), byId("seen")];
  if ("fault" in stats) {
    chart.replaceChildren();
    seen.replaceChildren();
    figures.replaceChildren(element("p", { class: "bad" }, stats.fault));
    return;
  }
  const series = seriesOf(stats.value, by.value, asked, atMs);
  drawSeries(chart, series);
  figures.replaceChildren(seriesTable(series, by.selectedOptions[0]?.text ?? by.value));
  const { version, policy } = "value" in everyone ? everyone.value : { version: undefined, policy: null };
  const parsed = parsePolicy(policy);
  const counts = stats.value.hours.flatMap((hour) => hour.counts);
  seen.replaceChildren(seenTable(cellsOf(counts, parsed.ok ? parsed.value : undefined), version));
}

by.addEventListener("change", () => shown && showStats(shown));
hours.addEventListener("change", () => void refresh());
addEventListener("resize", () => shown && showStats(shown));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && showStats(shown));
void refresh();
setInterval(() => void refresh(), EVERY_MS);
