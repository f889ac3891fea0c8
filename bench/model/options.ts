import { parseArgs } from "node:util";
import { UserError } from "../../base/user-error.ts";

/** One option of a command: how it is written, what it says of itself, and how its text is read. */
export interface Option<Value> {
  /** `N`, `FOLDER`; a flag has none. */
  readonly value?: string;
  readonly about: string;
  /** Its value where it is left out. */
  readonly preset: Value;
  /** Undefined where the text is not allowed. */
  readonly read: (text: string) => Value | undefined;
  /** What an error says that it must do. */
  readonly rule: string;
}

export type OptionSchema = Readonly<Record<string, Option<unknown>>>;

export type OptionsOf<Schema extends OptionSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends Option<infer Value> ? Value : never;
};

export function flag(about: string): Option<boolean> {
  return { about, preset: false, read: () => true, rule: "have no value" };
}

/** Any text; `preset` where it is left out. */
export function words<P extends string | undefined>(value: string, about: string, preset: P): Option<string | P> {
  return { value, about, preset, read: (text) => text, rule: "be a text" };
}

export function wholeNumber<P extends number | undefined>(
  about: string,
  [min, max]: readonly [min: number, max: number],
  preset: P,
): Option<number | P> {
  const read = (text: string): number | undefined =>
    /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined;
  return { value: "N", about, preset, read, rule: `be a whole number from ${min} to ${max}` };
}

export function oneOf<const Word extends string, P extends NoInfer<Word> | undefined>(
  value: string,
  about: string,
  known: readonly Word[],
  preset: P,
): Option<Word | P> {
  const read = (text: string): Word | undefined => known.find((word) => word === text);
  return { value, about, preset, read, rule: `be one of ${known.join(", ")}` };
}

/** Several of a set, with commas; all of `preset` where it is left out. */
export function someOf<const Word extends string>(
  about: string,
  known: readonly Word[],
  preset: readonly NoInfer<Word>[],
): Option<readonly Word[]> {
  const read = (text: string): readonly Word[] | undefined => {
    const given = [...new Set(text.split(","))];
    const found = given.flatMap((word) => known.find((one) => one === word) ?? []);
    return found.length === given.length ? found : undefined;
  };
  return { value: "NAMES", about, preset, read, rule: `be one of ${known.join(", ")}` };
}

/** Reads the arguments behind a command's name. @throws UserError naming the option and what is allowed */
export function readOptions<Schema extends OptionSchema>(args: readonly string[], schema: Schema): OptionsOf<Schema> {
  const given = parse(args, schema);
  const values = Object.entries(schema).map(([name, { preset, read, rule }]) => {
    const text = given[name];
    const value = text === undefined ? preset : read(String(text));
    if (text !== undefined && value === undefined) throw new UserError(`--${name} must ${rule}, not ${text}.`);
    return [name, value];
  });
  return Object.fromEntries(values) as OptionsOf<Schema>;
}

function parse(args: readonly string[], schema: OptionSchema): Readonly<Record<string, string | boolean | undefined>> {
  const options = Object.fromEntries(
    Object.entries(schema).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UserError(`${(error as Error).message}\nKnown options:\n${optionsText(schema)}`);
  }
}

/** A line for each option. */
export function optionsText(schema: OptionSchema): string {
  const names = Object.entries(schema).map(([name, { value }]) => [`--${name}`, value].filter(Boolean).join(" "));
  const width = Math.max(...names.map(({ length }) => length)) + 2;
  return Object.values(schema)
    .map(({ about }, i) => `  ${(names[i] ?? "").padEnd(width)}${about}`)
    .join("\n");
}
