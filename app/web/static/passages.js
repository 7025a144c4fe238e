// SPDX-License-Identifier: Apache-2.0
// Passages to read, and where they stand. The server has cut them into marked and other words.

import { el } from "./dom.js";
import { decimal, t } from "./words.js";

// A line that begins a list, a heading or a numbered clause stays a line of its own.
const BEGINS_LINE = /^\s*(?:[-*•–]\s|#{1,6}\s|\(?[0-9a-zא-ת]{1,4}[.)]\s|\d+(?:\.\d+)+\.?\s|\|)/i;

/** "p. 3", or the characters where a source has no pages. */
export function placeOf(locator) {
  const { page, page_end: last } = locator;
  if (page === null) return t("results.characters", { start: decimal(locator.start), end: decimal(locator.end) });
  return last && last > page ? t("results.pages", { page, last }) : t("results.page", { page });
}

/** Lines that were broken for the width of a page run on; paragraphs and lists stay. The length does not change. */
function flowingText(text) {
  return text.replace(/\r\n/g, " \n").replace(/[\r\f]/g, "\n")
    .replace(/\n[ \t]*\n\s*/g, (gap) => "\n\n".padEnd(gap.length, " "))
    .replace(/(?<=[^\n])\n(?=([^\n]+))/g, (whole, line) => (BEGINS_LINE.test(line) ? "\n" : " "));
}

/** The same for pieces `{text, mark}`, which are read as one text. */
export function flowing(cut) {
  const text = flowingText(cut.map((piece) => piece.text).join(""));
  let at = 0;
  return cut.map((piece) => ({ ...piece, text: text.slice(at, (at += piece.text.length)) }));
}

/** Pieces as nodes: text, and `mark` around what answers the question. */
export function pieces(cut) {
  return cut.map((piece) => (piece.mark ? el("mark", {}, piece.text) : document.createTextNode(piece.text)));
}
