import { parseArgs } from "node:util";
import { UserError } from "../../base/user-error.ts";

/** One option of a command: how it is written, what it says of itself, and how its text is read. */
export interface Option<Value> {
  /** `N`, `FOLDER`; a flag has none. */
  readonly value?: string;
  readonly about: string;
  /** Of a text that is given; undefined where the option is left out. @throws UserError naming what is allowed */
  readonly read: (text: string | undefined, name: string) => Value;
}

export type OptionSchema = Readonly<Record<string, Option<unknown>>>;

export type OptionsOf<Schema extends OptionSchema> = {
  readonly [Name in keyof Schema]: Schema[Name] extends Option<infer Value> ? Value : never;
};

export function flag(about: string): Option<boolean> {
  return { about, read: (text) => text !== undefined };
}

/** Any text; `preset` where it is left out. */
export function words<Preset extends string | undefined>(
  value: string,
  about: string,
  preset: Preset,
): Option<string | Preset> {
  return { value, about, read: (text) => text ?? preset };
}

export function wholeNumber<Preset extends number | undefined>(
  about: string,
  [min, max]: readonly [number, number],
  preset: Preset,
): Option<number | Preset> {
  return numeric(about, /^\d+$/, `a whole number from ${min} to ${max}`, [min, max], preset);
}

export function decimal<Preset extends number | undefined>(
  value: string,
  about: string,
  [min, max]: readonly [number, number],
  preset: Preset,
): Option<number | Preset> {
  return { ...numeric(about, /^\d+(\.\d+)?$/, `a number from ${min} to ${max}`, [min, max], preset), value };
}

function numeric<Preset extends number | undefined>(
  about: string,
  form: RegExp,
  allowed: string,
  [min, max]: readonly [number, number],
  preset: Preset,
): Option<number | Preset> {
  return {
    value: "N",
    about,
    read: (text, name) => {
      if (text === undefined) return preset;
      const value = Number(text);
      if (form.test(text) && value >= min && value <= max) return value;
      throw new UserError(`--${name} must be ${allowed}, not ${text}.`);
    },
  };
}

export function oneOf<const Word extends string>(
  value: string,
  about: string,
  known: readonly Word[],
  preset: NoInfer<Word>,
): Option<Word> {
  return {
    value,
    about,
    read: (text, name) => knownWord(text ?? preset, known, `--${name} must be one of`),
  };
}

/** Several of a set, with commas; all of `preset` where it is left out. */
export function someOf<const Word extends string>(
  about: string,
  known: readonly Word[],
  preset: readonly NoInfer<Word>[],
  rule = "be one of",
): Option<readonly Word[]> {
  return {
    value: "NAMES",
    about,
    read: (text, name) =>
      text === undefined
        ? preset
        : [...new Set(text.split(",").map((word) => knownWord(word, known, `--${name} must ${rule}`)))],
  };
}

function knownWord<Word extends string>(text: string, known: readonly Word[], rule: string): Word {
  const found = known.find((word) => word === text);
  if (found === undefined) throw new UserError(`${rule} ${known.join(", ")}, not ${text}.`);
  return found;
}

/** Reads the arguments behind a command's name. @throws UserError naming the option and what is allowed */
export function readOptions<Schema extends OptionSchema>(args: readonly string[], schema: Schema): OptionsOf<Schema> {
  const given = parse(args, schema);
  return Object.fromEntries(
    Object.entries(schema).map(([name, { read }]) => [
      name,
      read(given[name] === undefined ? undefined : String(given[name]), name),
    ]),
  ) as OptionsOf<Schema>;
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
