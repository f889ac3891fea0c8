import { describe, expect, it } from "vitest";
import { PROLOGUE_MAX_BYTES, tagPlace } from "./tag-place.ts";

/** The page with a mark at the place. */
function marked(page: string): string {
  const place = tagPlace(page);
  return typeof place === "number" ? `${page.slice(0, place)}|${page.slice(place)}` : place;
}

describe("the tag's place", () => {
  it.each([
    ["<!doctype html><html><head>|<title>", "as most pages begin"],
    ["<!DOCTYPE html>\n<html lang=\"en\">\n<HEAD data-x='>'>|\n<title>", "attributes and capitals"],
    ['<html lang=en class=a"b><head>|<meta charset=utf-8>', "values without quotes"],
    ["\u00EF\u00BB\u00BF<!doctype html><head>|", "a byte order mark"],
    ["<!-- <head> --><!doctype html><!-- a > b --><html><!-- <head> --><head>|<title>", "comments"],
    ["<!--><!doctype html><head>|<title></title><!-- -->", "a comment that ends at once"],
    ['<!doctype html>\n<html lang="en">\n|<meta charset="utf-8">', "a head without its tag"],
    ["<!doctype html>|<title>t</title>", "neither head nor root element"],
    [
      '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/x"><html xmlns="x"><head >|',
      "XHTML",
    ],
    ['<html><head>|<base href="https://cdn.example/">', "before a base"],
    ["<head>|<script>document.write('<head>')</script>", "not in a script"],
  ])("%s: %s", (expected) => {
    expect(marked(expected.replace("|", ""))).toBe(expected);
  });

  it.each([
    ["", "nothing yet"],
    ["<", "the beginning of anything"],
    ["<!doc", "half a doctype"],
    ["<!doctype html>\n", "a doctype"],
    ["<!doctype html><!-- <head>", "an open comment"],
    ['<html lang="a>b', "an open value"],
    ["<!doctype html><html><head data-x='", "half a head"],
    ["<!doctype html><me", "half an element"],
  ])("%j says not yet: %s", (page) => {
    expect(tagPlace(page)).toBe("later");
  });

  it.each([
    ["hello", "text"],
    ['{"a":1}', "JSON"],
    ["<title>t</title>", "a part of a page"],
    ["<header><head>", "an element with a longer name"],
    ["<!doctype html><body><p>", "a body without a head"],
    ["<!doctype html><html><header>", "another element"],
    ["<!doctype html>text", "text after the doctype"],
    ["\u00FF\u00FE<\u0000h\u0000e\u0000a\u0000d\u0000>\u0000", "UTF-16"],
    ["\n".repeat(PROLOGUE_MAX_BYTES), "no beginning within the bound"],
    [`<!--${"x".repeat(PROLOGUE_MAX_BYTES)}`, "a comment without an end"],
  ])("%j has none: %s", (page) => {
    expect(tagPlace(page)).toBe("nowhere");
  });

  it("takes no longer for pages that are made to take long", () => {
    const long = (part: string): string => part.repeat(Math.ceil(PROLOGUE_MAX_BYTES / part.length));
    const pages = [
      `<html${long(" ")}`,
      `<html${long(" a")}`,
      `<html${long(" a=")}`,
      `<html${long(" a='")}`,
      `<html ${long('"')}`,
      long("<!---->"),
      `<!--${long("--")}`,
      `<!doctype html>${long(" ")}<`,
    ];
    const beganMs = performance.now();
    for (const page of pages) expect(tagPlace(page)).toBe("nowhere");
    // Milliseconds. A search that backtracks takes minutes.
    expect(performance.now() - beganMs).toBeLessThan(5_000);
  });
});
